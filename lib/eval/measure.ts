import type { Group, Trajectory } from '../rollout/trajectory.js'
import { changeOverTasks, type Estimate, estimateOverTasks, type TaskSum } from './interval.js'

/** What is measured of trials. Figures about reads are over trials of labelled tasks only. */
export const measureNames = [
  'success',
  'reward',
  'oracleRead',
  'misleadingRead',
  'firstReadOracle',
  'reads',
] as const
export type MeasureName = (typeof measureNames)[number]

export const measureMeanings: Record<MeasureName, string> = {
  success: 'trials whose reward is above the threshold; a failed trial is none',
  reward: 'mean reward of the trials that have one',
  oracleRead: 'trials that read a right skill',
  misleadingRead: 'trials that read a misleading skill',
  firstReadOracle: 'of the trials that read any skill: the first one read was right',
  reads: 'skills read in a trial, on average',
}

export interface Measurement {
  tasks: number
  trials: number
  /** Trials without a reward, by reason. */
  failed: Record<string, number>
  /** Tokens the policy sampled. */
  tokens: number
  /** Absent where nothing can be counted, e.g. reads where no task is labelled. */
  estimates: Partial<Record<MeasureName, Estimate>>
  /** By measure and task: what the estimates, and comparisons with another evaluation, are made of. */
  sums: Record<MeasureName, Record<string, TaskSum>>
}

type Count = (trial: Trajectory) => TaskSum

function counts(successAbove: number): Record<MeasureName, Count> {
  const share = (holds: boolean, counted: boolean): TaskSum => ({
    sum: counted && holds ? 1 : 0,
    count: counted ? 1 : 0,
  })
  const hasRead = (trial: Trajectory, category: string) =>
    trial.reads.some((read) => read.category === category)
  return {
    success: (trial) => share(trial.reward !== null && trial.reward > successAbove, true),
    reward: (trial) => ({ sum: trial.reward ?? 0, count: trial.reward === null ? 0 : 1 }),
    oracleRead: (trial) => share(hasRead(trial, 'oracle'), trial.labelled),
    misleadingRead: (trial) => share(hasRead(trial, 'misleading'), trial.labelled),
    firstReadOracle: (trial) =>
      share(trial.reads[0]?.category === 'oracle', trial.labelled && trial.reads.length > 0),
    reads: (trial) => ({ sum: trial.labelled ? trial.reads.length : 0, count: trial.labelled ? 1 : 0 }),
  }
}

const isProportion = (name: MeasureName) => name !== 'reward' && name !== 'reads'

/** Measures trials: one group a task, one trajectory a trial. */
export function measureTrials(
  groups: readonly Group[],
  options: { successAbove?: number } = {},
): Measurement {
  const count = counts(options.successAbove ?? 0)
  const trials = groups.flatMap((group) => group.trajectories)
  const failed: Record<string, number> = {}
  for (const { failure } of trials) if (failure) failed[failure.code] = (failed[failure.code] ?? 0) + 1
  const estimates: Measurement['estimates'] = {}
  const sums = {} as Measurement['sums']
  for (const name of measureNames) {
    const byTask = new Map<string, TaskSum>()
    for (const trial of trials) {
      const { sum, count: counted } = count[name](trial)
      const before = byTask.get(trial.task) ?? { sum: 0, count: 0 }
      byTask.set(trial.task, { sum: before.sum + sum, count: before.count + counted })
    }
    sums[name] = Object.fromEntries(byTask)
    const estimate = estimateOverTasks([...byTask.values()], { proportion: isProportion(name) })
    if (estimate) estimates[name] = estimate
  }
  const sampled = (trial: Trajectory) => trial.sequences.reduce((n, { generated }) => n + total(generated), 0)
  return {
    tasks: new Set(trials.map((trial) => trial.task)).size,
    trials: trials.length,
    failed,
    tokens: trials.reduce((n, trial) => n + sampled(trial), 0),
    estimates,
    sums,
  }
}

function total(flags: Uint8Array): number {
  let n = 0
  for (const flag of flags) n += flag
  return n
}

/** The change of a measure from one evaluation to another of the same tasks; undefined where neither can be counted. */
export function measureChange(
  before: Measurement,
  after: Measurement,
  name: MeasureName,
): Estimate | undefined {
  const sums = (of: Measurement) => new Map(Object.entries(of.sums[name]))
  return changeOverTasks(sums(before), sums(after))
}
