import { changeOverTasks, type Estimate, type TaskSum } from '../eval/interval.js'
import type { RunRecord } from './run-record.js'
import { meanOverSeeds, type SeedMean } from './student-t.js'
import {
  type FigureName,
  figureNames,
  figureValue,
  isShare,
  type ReadCategory,
  readCategories,
} from './trial-figures.js'

/** The finished runs of one variant, by ascending seed. */
export interface VariantRuns {
  variant: string
  runs: readonly RunRecord[]
  /** Runs that were asked for. */
  planned: number
}

/** One variant's difference from the baseline in one figure. */
export interface Difference extends Estimate {
  /** Seeds both have; the value is of these alone. */
  seeds: number
  /** Of these, where the variant's figure is the higher and where it is the lower one. */
  higher: number
  lower: number
  /** The same difference seed by seed, with a 95% t interval: what other training runs would give. */
  overSeeds: SeedMean
}

export interface VariantSummary {
  variant: string
  seeds: number[]
  planned: number
  /** Mean over seeds with a 95% t interval. */
  figures: Partial<Record<FigureName, SeedMean>>
  /** One value a run, in the order of `seeds`. */
  values: Record<FigureName, (number | null)[]>
  /** Reads a trial by category, mean over seeds. */
  reads: Record<ReadCategory, number>
  /** Against the baseline, with a 95% bootstrap interval over tasks; absent for the baseline itself. */
  differences?: Partial<Record<FigureName, Difference>>
  trials: number
  failed: number
  /** A run's training, in seconds, on average. */
  trainingSeconds: number
}

export interface Summary {
  baseline: string
  variants: VariantSummary[]
}

/** What the finished runs of a comparison come to. Variants without a finished run are kept, without figures. */
export function summarise(variants: readonly VariantRuns[], baseline: string): Summary {
  const base = variants.find(({ variant }) => variant === baseline)
  return {
    baseline,
    variants: variants.map((one) => ({
      ...summaryOf(one),
      ...(base && base !== one && { differences: differencesOf(one.runs, base.runs) }),
    })),
  }
}

function summaryOf({ variant, runs, planned }: VariantRuns): Omit<VariantSummary, 'differences'> {
  const values = {} as VariantSummary['values']
  const figures: VariantSummary['figures'] = {}
  for (const name of figureNames) {
    values[name] = runs.map((run) => figureValue(run.sums[name]) ?? null)
    const known = values[name].filter((value) => value !== null)
    const mean = meanOverSeeds(known, isShare(name) ? [0, 1] : [0, Number.POSITIVE_INFINITY])
    if (mean) figures[name] = mean
  }
  const average = (of: (run: RunRecord) => number) =>
    runs.reduce((sum, run) => sum + of(run), 0) / Math.max(1, runs.length)
  return {
    variant,
    seeds: runs.map(({ seed }) => seed),
    planned,
    figures,
    values,
    reads: Object.fromEntries(
      readCategories.map((category) => [category, average((run) => run.reads[category])]),
    ) as VariantSummary['reads'],
    trials: runs.reduce((sum, run) => sum + run.trials, 0),
    failed: runs.reduce((sum, run) => sum + run.failed, 0),
    trainingSeconds: average((run) => run.seconds.training),
  }
}

function differencesOf(runs: readonly RunRecord[], base: readonly RunRecord[]) {
  const pairs = runs.flatMap((run) => {
    const other = base.find(({ seed }) => seed === run.seed)
    return other ? [[other, run] as const] : []
  })
  const differences: Partial<Record<FigureName, Difference>> = {}
  for (const name of figureNames) {
    const pooled = (side: 0 | 1) => pooledSums(pairs.map((pair) => pair[side].sums[name]))
    const estimate = changeOverTasks(pooled(0), pooled(1))
    if (!estimate) continue
    const gaps = pairs.map(
      ([was, is]) => (figureValue(is.sums[name]) ?? 0) - (figureValue(was.sums[name]) ?? 0),
    )
    differences[name] = {
      ...estimate,
      seeds: pairs.length,
      higher: gaps.filter((gap) => gap > 0).length,
      lower: gaps.filter((gap) => gap < 0).length,
      overSeeds: meanOverSeeds(gaps)!,
    }
  }
  return differences
}

/** A task's trials of all runs together. */
function pooledSums(runs: readonly Readonly<Record<string, TaskSum>>[]): Map<string, TaskSum> {
  const pooled = new Map<string, TaskSum>()
  for (const sums of runs)
    for (const [task, { sum, count }] of Object.entries(sums)) {
      const before = pooled.get(task) ?? { sum: 0, count: 0 }
      pooled.set(task, { sum: before.sum + sum, count: before.count + count })
    }
  return pooled
}
