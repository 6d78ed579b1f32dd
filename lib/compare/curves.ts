import type { CurvePoint } from '../report/figures/line-chart.js'
import type { CurveStep } from './run-record.js'

export const curveFigures = ['reward', 'oracleRead', 'misleadingRead'] as const
export type CurveFigure = (typeof curveFigures)[number]

/** Steps in a moving average: a step's 64 or so rollouts are few. */
export const smoothing = 5

/** The mean of each value and those before it, `window` in all; missing values take no part. */
export function movingMean(values: readonly (number | undefined)[], window: number): (number | undefined)[] {
  return values.map((_, i) => {
    const near = values.slice(Math.max(0, i + 1 - window), i + 1).filter((value) => value !== undefined)
    return near.length === 0 ? undefined : near.reduce((sum, value) => sum + value, 0) / near.length
  })
}

/**
 * Mean over runs of a figure at each step all of them have reached, in percent of trials (rewards as they are), between the lowest and the
 * highest run. Each run's curve is smoothed first.
 */
export function meanCurve(runs: readonly (readonly CurveStep[])[], figure: CurveFigure): CurvePoint[] {
  const begun = runs.filter((run) => run.length > 0)
  if (begun.length === 0) return []
  const scale = figure === 'reward' ? 1 : 100
  const smooth = begun.map((run) =>
    movingMean(
      run.map((step) => step[figure]),
      smoothing,
    ),
  )
  const steps = Math.min(...begun.map((run) => run.length))
  return Array.from({ length: steps }, (_, i): CurvePoint[] => {
    const values = smooth.map((run) => run[i]).filter((value) => value !== undefined)
    if (values.length === 0) return []
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const ends = { low: Math.min(...values) * scale, high: Math.max(...values) * scale }
    return [{ x: begun[0]![i]!.step, y: mean * scale, ...(values.length > 1 && ends) }]
  }).flat()
}
