import { checkOptions } from '../config/check.js'
import {
  type SelectionBcOptions,
  type SelectionBcOptionsIn,
  selectionBcOptions,
} from '../config/selection-options.js'
import { drawTasks, openNativePolicy } from '../rollout/setting.js'
import { learningRateSchedule } from '../update/schedule.js'
import { updatePolicy } from '../update/update.js'
import { labelledTasks, makeChoices } from './choices.js'
import { printEvents } from './console.js'
import { type GivenToTraining, openRunData } from './run-data.js'
import { evaluateIfDue } from './run-evaluation.js'
import { RunFolder, type RunResult } from './run-folder.js'
import { countLossTokens, lossSequences } from './sft-data.js'
import { openStage } from './stage.js'
import { StepClock } from './step-figures.js'

export type SelectionBcConfig = Omit<SelectionBcOptionsIn, keyof GivenToTraining> & GivenToTraining
type Options = Omit<SelectionBcOptions, keyof GivenToTraining> & GivenToTraining

/**
 * Trains a model to read the right skill in the first turn: supervised, on the prompt that the agent begins with and the turn that reads the
 * oracle. Tasks without an oracle are left out. Resuming, stopping and evaluating are as in `train`.
 * @throws ERR_CONFIG, ERR_OUTPUT_EXISTS, ERR_CHECKPOINT_MISMATCH, ERR_NO_CHOICES, ERR_READ_TURN, and what reading model, skills and tasks throws
 */
export async function selectionBc(config: SelectionBcConfig): Promise<RunResult> {
  const options = checkOptions(selectionBcOptions, config) as Options
  const { seed, steps, groupsPerStep } = options
  const emit = options.onEvent ?? printEvents()

  const { skills, tasks, heldOut, inputs, evaluation } = await openRunData(options)
  const labelled = labelledTasks(tasks, 'selection-bc', emit)
  const plan = { recipe: 'selection-bc', inputs, steps, evaluation } as const
  const run = await RunFolder.open(selectionBcOptions, options, plan, emit)
  let state = run.start
  try {
    const stage = await openStage(options, skills, run.warn, new Date(state.startedAt))
    const policy = await run.openPolicy(options.openPolicy ?? openNativePolicy, options)
    const ask = stage.ask(policy.maxContext)
    const rateOf = learningRateSchedule({ ...options, kind: options.schedule, totalSteps: steps })
    const clock = new StepClock()
    for (;;) {
      state = await evaluateIfDue(run, state, stage, policy, heldOut, options, emit)
      await run.saveIfDue(state)
      if (state.step >= steps) break

      const step = state.step + 1
      const draws = drawTasks(labelled, seed, state.data)
      const drawn = Array.from({ length: groupsPerStep }, () => draws.next())
      clock.begin()
      const { choices, left } = await makeChoices(drawn, ask, { ...options, step, against: 'nothing' })
      clock.played()
      const batch = choices.map(({ chosen }) => ({ sequences: chosen }))
      const sequences = lossSequences(batch)
      const learningRate = rateOf(state.step)
      const update = await updatePolicy(policy, null, sequences, { ...options, learningRate })
      for (const warning of [...left, ...update.warnings]) run.warn(`step ${step}: ${warning}`)

      const { secondsLeft, ...times } = clock.end(steps - step)
      const tokens = sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0)
      const { negativeLogprob: loss, gradNorm } = update
      const tokensPerSecond = tokens / Math.max(1e-9, times.updateSeconds)
      const figures = { step, learningRate, loss, gradNorm, tokens, tokensPerSecond, secondsLeft }
      const counted = { tasks: choices.length, lossTokens: countLossTokens(batch) }
      await run.writeMetrics('step', step, {
        ...{ ...figures, ...counted, ...times },
        policyVersion: policy.version,
      })
      emit({ type: 'loss', figures: { ...figures, steps } })
      const { skippedSteps = 0, skippedTasks = 0 } = state.counters
      const counters = {
        skippedSteps: skippedSteps + (update.steps === 1 ? 0 : 1),
        skippedTasks: skippedTasks + left.length,
      }
      state = { ...state, step, policyVersion: policy.version, data: draws.state, counters }
    }
    return run.result(state)
  } catch (error) {
    return await run.afterError(error, state)
  } finally {
    run.close()
  }
}
