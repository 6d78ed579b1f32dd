import { checkOptions } from '../config/check.js'
import { type RlOptions, type RlOptionsIn, rlOptions } from '../config/rl-options.js'
import { assignCredit } from '../credit/credit.js'
import { creditMethod } from '../credit/methods/index.js'
import { collect } from '../rollout/collect.js'
import { drawTasks, noSlate, openNativePolicy } from '../rollout/setting.js'
import type { Group } from '../rollout/trajectory.js'
import { storedGroups, writeTrajectories } from '../rollout/trajectory-file.js'
import { learningRateSchedule } from '../update/schedule.js'
import { updatePolicy } from '../update/update.js'
import { printEvents } from './console.js'
import { type GivenToTraining, openRunData } from './run-data.js'
import { evaluateIfDue } from './run-evaluation.js'
import { RunFolder, type RunResult } from './run-folder.js'
import { trajectoriesFile } from './run-start.js'
import { openStage } from './stage.js'
import { noUpdate, StepClock, stepFigures } from './step-figures.js'

export type TrainConfig = Omit<RlOptionsIn, keyof GivenToTraining> & GivenToTraining
type Options = Omit<RlOptions, keyof GivenToTraining> & GivenToTraining

/**
 * Trains a model by reinforcement on the agent's own rollouts. All of it follows from the config and its seed; `resume` goes on from
 * the last complete checkpoint as if nothing had happened. An aborted `signal` saves the last completed step and ends the run.
 * @throws ERR_CONFIG, ERR_OUTPUT_EXISTS, ERR_CHECKPOINT_MISMATCH, ERR_ALL_ROLLOUTS_FAILED, and what reading model, skills and tasks throws
 */
export async function train(config: TrainConfig): Promise<RunResult> {
  const options = checkOptions(rlOptions, config) as Options
  const { seed, steps, temperature, topP, klCoefficient } = options
  const method = creditMethod(options.method)
  const emit = options.onEvent ?? printEvents()
  const openPolicy = options.openPolicy ?? openNativePolicy

  const { skills, tasks, heldOut, inputs, evaluation } = await openRunData(options)
  const run = await RunFolder.open(rlOptions, options, { recipe: 'train', inputs, steps, evaluation }, emit)
  let state = run.start
  try {
    const stage = await openStage(options, skills, run.warn, new Date(state.startedAt))
    const policy = await run.openPolicy(openPolicy, options)
    const reference = klCoefficient > 0 ? await run.openReference(openPolicy, options) : null
    const rateOf = learningRateSchedule({ ...options, kind: options.schedule, totalSteps: steps })
    const clock = new StepClock()
    for (;;) {
      state = await evaluateIfDue(run, state, stage, policy, heldOut, options, emit)
      await run.saveIfDue(state)
      if (state.step >= steps) break

      const step = state.step + 1
      const draws = drawTasks(tasks, seed, state.data)
      const progress = {
        type: 'progress',
        what: `step ${step}: rollouts`,
        total: options.groupsPerStep * options.groupSize,
      } as const
      let done = 0
      const tellsReadsApart = (group: Group) =>
        method.actions(group, state.memory).some((a) => a.some(Boolean))
      clock.begin()
      const collected = await collect({
        ...options,
        ...stage.play(policy, { temperature, topP }),
        ...(method.slate === 'hidden' && { slateFor: noSlate }),
        ...(options.dynamicSamplingBy === 'credit' && { keepAnyway: tellsReadsApart }),
        step,
        nextTask: () => draws.next(),
        onRollout: () => emit({ ...progress, done: ++done, total: Math.max(progress.total, done) }),
      })
      await run.writeRecord(() =>
        writeTrajectories(trajectoriesFile(options.output, step), storedGroups(step, collected)),
      )
      clock.played()
      emit({ ...progress, what: `step ${step}: update after rollouts`, done, total: done })
      const credit = assignCredit(collected.kept, { ...options, method, memory: state.memory })
      const learningRate = rateOf(state.step)
      const update =
        credit.sequences.length === 0
          ? noUpdate()
          : await updatePolicy(policy, reference, credit.sequences, { ...options, learningRate })
      const figures = stepFigures(collected, credit.statistics, update, clock.end(steps - step))

      for (const text of [...collected.warnings, ...update.warnings]) run.warn(`step ${step}: ${text}`)
      await run.writeMetrics('step', step, { learningRate, policyVersion: policy.version, ...figures })
      emit({ type: 'step', figures: { step, ...figures, steps } })
      const { skippedSteps = 0, failedRollouts = 0, droppedGroups = 0 } = state.counters
      state = {
        ...state,
        step,
        policyVersion: policy.version,
        data: draws.state,
        ...(method.learn && { memory: method.learn(state.memory, collected.kept) }),
        counters: {
          skippedSteps: skippedSteps + (update.steps === 1 ? 0 : 1),
          failedRollouts: failedRollouts + figures.failed,
          droppedGroups: droppedGroups + collected.dropped.length,
        },
      }
    }
    return run.result(state)
  } catch (error) {
    return await run.afterError(error, state)
  } finally {
    run.close()
  }
}
