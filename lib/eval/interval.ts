/** A figure with its 95% interval. */
export interface Estimate {
  value: number
  low: number
  high: number
}

/** Sums over one task's trials: of the figure, and of what it is counted over. The estimate is sum / count over all tasks. */
export interface TaskSum {
  sum: number
  count: number
}

const z95 = 1.959963984540054
const resamples = 4000

/** mulberry32: a seeded stream of numbers in [0, 1). */
function stream(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Wilson's interval of a proportion: `p` observed in `n` independent observations. */
export function wilson(p: number, n: number): Estimate {
  const z2 = z95 * z95
  const middle = (p + z2 / (2 * n)) / (1 + z2 / n)
  const half = (z95 / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n))
  return { value: p, low: p === 0 ? 0 : middle - half, high: p === 1 ? 1 : middle + half }
}

function ratio(tasks: readonly TaskSum[]): number {
  let sum = 0
  let count = 0
  for (const task of tasks) {
    sum += task.sum
    count += task.count
  }
  return sum / count
}

/** The value that a fraction `q` of sorted `values` lies below, interpolated. */
function quantile(values: Float64Array, q: number): number {
  const at = q * (values.length - 1)
  const below = Math.floor(at)
  const low = values[below]!
  const high = values[Math.min(below + 1, values.length - 1)]!
  return low + (high - low) * (at - below)
}

function percentiles(statistics: Float64Array): { low: number; high: number } {
  const sorted = statistics.filter((value) => !Number.isNaN(value)).sort()
  return { low: quantile(sorted, 0.025), high: quantile(sorted, 0.975) }
}

/**
 * Percentile bootstrap that resamples tasks, so that trials of one task are not taken for independent ones. Where all tasks agree
 * resampling says nothing: a proportion then has Wilson's interval with one observation a task, a mean has no width.
 * Tasks that count nothing take no part; undefined where none counts anything.
 */
export function estimateOverTasks(
  tasks: readonly TaskSum[],
  options: { proportion: boolean; seed?: number },
): Estimate | undefined {
  const counted = tasks.filter((task) => task.count > 0)
  if (counted.length === 0) return undefined
  const value = ratio(counted)
  if (counted.every((task) => task.sum / task.count === counted[0]!.sum / counted[0]!.count)) {
    return options.proportion ? wilson(value, counted.length) : { value, low: value, high: value }
  }
  const random = stream(options.seed ?? 1)
  const statistics = Float64Array.from({ length: resamples }, () =>
    ratio(counted.map(() => counted[Math.floor(random() * counted.length)]!)),
  )
  return { value, ...percentiles(statistics) }
}

/** The change from `before` to `after`, resampling tasks both have, each drawn with its two sides together. */
export function changeOverTasks(
  before: ReadonlyMap<string, TaskSum>,
  after: ReadonlyMap<string, TaskSum>,
  seed = 1,
): Estimate | undefined {
  const names = [...before.keys()].filter((name) => after.has(name))
  const pairs = names.map((name) => [before.get(name)!, after.get(name)!] as const)
  const change = (drawn: typeof pairs) => ratio(drawn.map(([, is]) => is)) - ratio(drawn.map(([was]) => was))
  const value = change(pairs)
  if (pairs.length === 0 || Number.isNaN(value)) return undefined
  const random = stream(seed)
  const statistics = Float64Array.from({ length: resamples }, () =>
    change(pairs.map(() => pairs[Math.floor(random() * pairs.length)]!)),
  )
  return { value, ...percentiles(statistics) }
}
