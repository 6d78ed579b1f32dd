import type { TaskSum } from '../eval/interval.js'
import type { Group, Trajectory } from '../rollout/trajectory.js'

/** What a comparison measures of evaluation trials; all but success over trials of labelled tasks. */
export const figureNames = ['success', 'oracleRead', 'misleadingRead', 'reads', 'cleanOracle'] as const
export type FigureName = (typeof figureNames)[number]

export const figureTitles: Record<FigureName, string> = {
  success: 'success',
  oracleRead: 'oracle read',
  misleadingRead: 'misleading read',
  reads: 'reads a trial',
  cleanOracle: 'clean oracle',
}

export const figureMeanings: Record<FigureName, string> = {
  success: 'trials whose reward is above the threshold',
  oracleRead: 'trials that read a right skill',
  misleadingRead: 'trials that read a misleading skill',
  reads: 'skills read in a trial, on average',
  cleanOracle: 'trials whose only read is a right skill',
}

/** Whether a figure is a share of trials, shown in percent. */
export const isShare = (name: FigureName) => name !== 'reads'

export const readCategories = ['oracle', 'relevant', 'irrelevant', 'misleading', 'unadvertised'] as const
export type ReadCategory = (typeof readCategories)[number]

export interface TrialFigures {
  trials: number
  /** Trials without a reward. */
  failed: number
  /** By figure and task. */
  sums: Record<FigureName, Record<string, TaskSum>>
  /** Reads a trial of a labelled task, on average, by category. */
  reads: Record<ReadCategory, number>
}

/** Figures of the trials of an evaluation, one group a task. */
export function trialFigures(groups: readonly Group[], successAbove = 0): TrialFigures {
  const trials = groups.flatMap((group) => group.trajectories)
  const labelled = trials.filter((trial) => trial.labelled)
  const has = (trial: Trajectory, category: string) => trial.reads.some((read) => read.category === category)
  const values: Record<FigureName, (trial: Trajectory) => number> = {
    success: ({ reward }) => (reward !== null && reward > successAbove ? 1 : 0),
    oracleRead: (trial) => (has(trial, 'oracle') ? 1 : 0),
    misleadingRead: (trial) => (has(trial, 'misleading') ? 1 : 0),
    reads: (trial) => trial.reads.length,
    cleanOracle: (trial) => (trial.reads.length === 1 && has(trial, 'oracle') ? 1 : 0),
  }
  const sumsOf = (name: FigureName) => {
    const sums: Record<string, TaskSum> = {}
    for (const trial of name === 'success' ? trials : labelled) {
      const before = Object.hasOwn(sums, trial.task) ? sums[trial.task]! : { sum: 0, count: 0 }
      sums[trial.task] = { sum: before.sum + values[name](trial), count: before.count + 1 }
    }
    return sums
  }
  const readsOf = (category: ReadCategory) =>
    labelled.flatMap(({ reads }) => reads.filter((read) => read.category === category)).length /
    Math.max(1, labelled.length)
  return {
    trials: trials.length,
    failed: trials.filter(({ reward }) => reward === null).length,
    sums: byName(figureNames, sumsOf),
    reads: byName(readCategories, readsOf),
  }
}

function byName<K extends string, V>(names: readonly K[], valueFor: (name: K) => V): Record<K, V> {
  return Object.fromEntries(names.map((name) => [name, valueFor(name)])) as Record<K, V>
}

/** The value of a figure over all tasks; undefined where no trial counts. */
export function figureValue(sums: Readonly<Record<string, TaskSum>>): number | undefined {
  let sum = 0
  let count = 0
  for (const task of Object.values(sums)) {
    sum += task.sum
    count += task.count
  }
  return count === 0 ? undefined : sum / count
}
