import type { Measurement } from '../eval/measure.js'
import type { StepFigures } from '../report/step-line.js'

/** What a run tells while it goes on. */
export type RunEvent =
  /** Something worth knowing; a warning where it may be wrong. */
  | { type: 'notice' | 'warning'; text: string }
  /** Within a step: `done` of `total` pieces of `what`. */
  | { type: 'progress'; what: string; done: number; total: number }
  /** A step of `train`. */
  | { type: 'step'; figures: StepFigures }
  /** A step of `sft`. */
  | { type: 'loss'; figures: LossFigures }
  | { type: 'evaluation'; step: number; measurement: Measurement }
  /** `sft`: mean loss of a held-out token, in nats. */
  | { type: 'heldOutLoss'; step: number; loss: number }
  | { type: 'checkpoint'; step: number; dir: string }

export type LossFigures = Pick<
  StepFigures,
  'step' | 'steps' | 'loss' | 'gradNorm' | 'tokensPerSecond' | 'secondsLeft'
> & { learningRate: number }

export type Emit = (event: RunEvent) => void
