import type { CategoryChart, Datum } from '../report/figures/category-chart.js'
import type { VariantSummary } from './summary.js'
import { type FigureName, figureTitles, isShare } from './trial-figures.js'

/** What the methods of an experiment came to at one point of it. */
export interface ExperimentPoint {
  label: string
  /** By method; a method may be missing at a point. */
  methods: Readonly<Record<string, VariantSummary | undefined>>
}

export interface ExperimentText {
  id: string
  title: string
  xLabel: string
  /** A value to compare with, of another method that the experiment does not touch. */
  reference?: { text: string; value: number }
}

/** One figure of every method at every point, with a 95% interval over seeds and a dot for each run. */
export function experimentChart(
  points: readonly ExperimentPoint[],
  name: FigureName,
  { reference, ...text }: ExperimentText,
): CategoryChart {
  const scale = isShare(name) ? 100 : 1
  const methods = [...new Set(points.flatMap((point) => Object.keys(point.methods)))]
  const datum = (summary: VariantSummary | undefined): Datum | null => {
    const mean = summary?.figures[name]
    if (!mean) return null
    return {
      value: mean.value * scale,
      points: summary!.values[name].filter((value) => value !== null).map((value) => value * scale),
    }
  }
  const series = methods.map((method) => ({
    name: method,
    mark: 'line' as const,
    data: points.map((point) => datum(point.methods[method])),
  }))
  const told = series.map(
    (one) =>
      `${one.name}: ${points.map(({ label }, i) => `${label}: ${one.data[i]?.value.toFixed(1) ?? 'none'}`).join(', ')}`,
  )
  return {
    ...text,
    description: `${told.join('; ')}.`,
    categories: points.map(({ label }) => ({ label })),
    y: {
      label: `${figureTitles[name]}${isShare(name) ? ' (% of trials)' : ''}; small dots: runs`,
      include: isShare(name) ? [0, 10] : [0],
    },
    series,
    ...(reference && { reference: { ...reference, value: reference.value * scale } }),
  }
}
