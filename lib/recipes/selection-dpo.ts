import { checkOptions } from '../config/check.js'
import {
  type SelectionDpoOptions,
  type SelectionDpoOptionsIn,
  selectionDpoOptions,
} from '../config/selection-options.js'
import { drawTasks, openNativePolicy } from '../rollout/setting.js'
import { dpoLoss, dpoSequences, turnLogprobs } from '../update/dpo.js'
import { learningRateSchedule } from '../update/schedule.js'
import { updatePolicy } from '../update/update.js'
import { labelledTasks, makeChoices, pairsOf } from './choices.js'
import { printEvents } from './console.js'
import { type GivenToTraining, openRunData } from './run-data.js'
import { evaluateIfDue } from './run-evaluation.js'
import { RunFolder, type RunResult } from './run-folder.js'
import { openStage } from './stage.js'
import { StepClock } from './step-figures.js'

export type SelectionDpoConfig = Omit<SelectionDpoOptionsIn, keyof GivenToTraining> & GivenToTraining
type Options = Omit<SelectionDpoOptions, keyof GivenToTraining> & GivenToTraining

/**
 * Trains a model by DPO to prefer, in the first turn, a read of the right skill to a read of each misleading one; the reference is the model
 * as it was given. Tasks without an oracle are left out. Resuming, stopping and evaluating are as in `train`.
 * @throws ERR_CONFIG, ERR_OUTPUT_EXISTS, ERR_CHECKPOINT_MISMATCH, ERR_NO_CHOICES, ERR_READ_TURN, and what reading model, skills and tasks throws
 */
export async function selectionDpo(config: SelectionDpoConfig): Promise<RunResult> {
  const options = checkOptions(selectionDpoOptions, config) as Options
  const { seed, steps, groupsPerStep, beta } = options
  const emit = options.onEvent ?? printEvents()
  const openPolicy = options.openPolicy ?? openNativePolicy

  const { skills, tasks, heldOut, inputs, evaluation } = await openRunData(options)
  const labelled = labelledTasks(tasks, 'selection-dpo', emit)
  const plan = { recipe: 'selection-dpo', inputs, steps, evaluation } as const
  const run = await RunFolder.open(selectionDpoOptions, options, plan, emit)
  let state = run.start
  try {
    const stage = await openStage(options, skills, run.warn, new Date(state.startedAt))
    const policy = await run.openPolicy(openPolicy, options)
    const reference = await run.openReference(openPolicy, options)
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
      const { choices, left } = await makeChoices(drawn, ask, { ...options, step })
      clock.played()
      const { sequences, pairs } = pairsOf(choices)
      const before = await turnLogprobs(policy, sequences, options)
      const { loss, margins, gradient } = dpoLoss(
        pairs,
        before,
        await turnLogprobs(reference, sequences, options),
        beta,
      )
      const learningRate = rateOf(state.step)
      const train = dpoSequences(sequences, gradient)
      const update = await updatePolicy(policy, null, train, { ...options, learningRate })
      for (const warning of [...left, ...update.warnings]) run.warn(`step ${step}: ${warning}`)

      const { secondsLeft, ...times } = clock.end(steps - step)
      const tokens = sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0)
      const tokensPerSecond = tokens / Math.max(1e-9, times.updateSeconds)
      const { gradNorm } = update
      const figures = { step, learningRate, loss, gradNorm, tokens, tokensPerSecond, secondsLeft }
      const counted = { tasks: choices.length, pairs: pairs.length }
      const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length
      const margin = { margin: mean(margins), preferred: mean(margins.map((m) => (m > 0 ? 1 : 0))) }
      await run.writeMetrics('step', step, {
        ...{ ...figures, ...counted, ...margin, ...times },
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
