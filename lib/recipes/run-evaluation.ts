import type { RunState } from '../checkpoint/state.js'
import { playEvaluation } from './evaluate.js'
import type { Emit } from './events.js'
import type { RunFolder } from './run-folder.js'
import type { Policy, Stage, Task } from './stage.js'

export interface RunEvaluationOptions {
  seed: number
  evalTrials: number
  evalTemperature: number
  evalTopP: number
  keepBest: string
  signal?: AbortSignal
}

/** Plays the held-out tasks where it is time, writes down what came out, and returns the state with that noted. */
export async function evaluateIfDue(
  run: RunFolder,
  state: RunState,
  stage: Stage,
  policy: Policy,
  heldOut: readonly Task[],
  options: RunEvaluationOptions,
  emit: Emit,
): Promise<RunState> {
  if (!run.evaluationDue(state)) return state
  const { evalTrials: trials, evalTemperature: temperature, evalTopP: topP, seed, signal } = options
  const sampling = { trials, temperature, topP, seed, signal }
  const { measurement } = await playEvaluation(stage, policy, heldOut, sampling, emit)
  const { estimates, failed } = measurement
  await run.writeMetrics('evaluation', state.step, { ...estimates, failed })
  emit({ type: 'evaluation', step: state.step, measurement })
  return run.afterEvaluation(state, options.keepBest, estimates)
}
