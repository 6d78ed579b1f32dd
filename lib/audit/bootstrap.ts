import { mean, quantile } from './statistics.js'

/** A mean over tasks with its 95% interval; null where there is no such value. */
export interface TaskMean {
  mean: number | null
  low: number | null
  high: number | null
  tasks: number
}

/**
 * The mean over tasks of each task's mean, with a percentile bootstrap that resamples tasks: trajectories of one task are not
 * independent. One task says nothing about others, so that its interval is null.
 */
export function meanOverTasks(
  values: readonly { task: string; value: number }[],
  { resamples, seed }: { resamples: number; seed: number },
): TaskMean {
  const byTask = new Map<string, number[]>()
  for (const { task, value } of values) byTask.set(task, [...(byTask.get(task) ?? []), value])
  const means = Array.from(byTask.values(), (list) => mean(list)!)
  const tasks = means.length
  if (tasks < 2) return { mean: mean(means), low: null, high: null, tasks }
  const random = uniform(seed)
  const drawn = Float64Array.from({ length: resamples }, () => {
    let sum = 0
    for (let i = 0; i < tasks; i++) sum += means[Math.floor(random() * tasks)]!
    return sum / tasks
  }).sort()
  return { mean: mean(means), low: quantile(drawn, 0.025), high: quantile(drawn, 0.975), tasks }
}

/** mulberry32: numbers in [0, 1) that follow from the seed. */
function uniform(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
