import { count, duration, number, percent } from './format.js'

export interface StepFigures {
  step: number
  steps: number
  reward: number
  /** Fractions of the rollouts; absent where no task is labelled. */
  oracleRead?: number
  misleadingRead?: number
  loss: number
  gradNorm: number
  kl: number
  tokensPerSecond: number
  secondsLeft: number
}

const place = (step: number, steps: number) => `step ${String(step).padStart(String(steps).length)}/${steps}`

/** One line of a reinforcement learning run. */
export function stepLine(figures: StepFigures): string {
  const reads =
    figures.oracleRead === undefined
      ? []
      : [`oracle ${percent(figures.oracleRead)}`, `misleading ${percent(figures.misleadingRead)}`]
  return [
    place(figures.step, figures.steps),
    `reward ${figures.reward.toFixed(3)}`,
    ...reads,
    `loss ${number(figures.loss)}`,
    `grad norm ${number(figures.gradNorm)}`,
    `kl ${number(figures.kl)}`,
    `${count(figures.tokensPerSecond)} tok/s`,
    `left ${duration(figures.secondsLeft)}`,
  ].join('  ')
}

/** One line of supervised training. */
export function lossLine(
  figures: Pick<StepFigures, 'step' | 'steps' | 'loss' | 'gradNorm' | 'tokensPerSecond' | 'secondsLeft'> & {
    learningRate: number
  },
): string {
  return [
    place(figures.step, figures.steps),
    `loss ${figures.loss.toFixed(4)}`,
    `grad norm ${number(figures.gradNorm)}`,
    `rate ${number(figures.learningRate)}`,
    `${count(figures.tokensPerSecond)} tok/s`,
    `left ${duration(figures.secondsLeft)}`,
  ].join('  ')
}
