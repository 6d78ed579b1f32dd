import type { CategoryChart, Datum } from '../report/figures/category-chart.js'
import type { LineChart } from '../report/figures/line-chart.js'
import type { StackChart } from '../report/figures/stack-chart.js'
import { type CurveFigure, meanCurve, smoothing } from './curves.js'
import type { CurveStep } from './run-record.js'
import type { Summary } from './summary.js'
import { type FigureName, figureTitles, isShare, readCategories } from './trial-figures.js'

const curveTitles: Record<CurveFigure, { title: string; label: string }> = {
  reward: { title: 'Reward while training', label: 'Mean reward of a step\u2019s rollouts' },
  oracleRead: { title: 'Oracle reads while training', label: 'Rollouts that read the right skill (%)' },
  misleadingRead: {
    title: 'Misleading reads while training',
    label: 'Rollouts that read a misleading skill (%)',
  },
}

/** A learning curve of each method. */
export function learningCurve(
  curves: readonly { variant: string; runs: readonly (readonly CurveStep[])[] }[],
  figure: CurveFigure,
): LineChart {
  const series = curves.flatMap(({ variant, runs }) => {
    const points = meanCurve(runs, figure)
    return points.length === 0 ? [] : [{ name: variant, points }]
  })
  const ends = series.map(
    ({ name, points }) => `${name} ends at ${points.at(-1)!.y.toFixed(figure === 'reward' ? 2 : 0)}`,
  )
  const { title, label } = curveTitles[figure]
  return {
    id: `curve-${figure.toLowerCase()}`,
    title,
    description: `${ends.join(', ')}.`,
    xLabel: `Training step (moving average of ${smoothing}; shaded: lowest to highest run)`,
    y: { label, include: [0] },
    series,
  }
}

/** One figure of every method as bars, each run a dot. */
export function figureBars(summary: Summary, name: FigureName): CategoryChart {
  const shown = summary.variants.filter(({ figures }) => figures[name])
  const scale = isShare(name) ? 100 : 1
  const data = shown.map(({ figures, values }): Datum => {
    const { value, low, high } = figures[name]!
    return {
      value: value * scale,
      ...(low !== undefined && high !== undefined && { low: low * scale, high: high * scale }),
      points: values[name].filter((one) => one !== null).map((one) => one * scale),
    }
  })
  const title = figureTitles[name]
  return {
    id: `bars-${name.toLowerCase()}`,
    title: `${title[0]!.toUpperCase()}${title.slice(1)} on held-out tasks`,
    description: `${shown.map(({ variant }, i) => `${variant} ${data[i]!.value.toFixed(isShare(name) ? 1 : 2)}`).join(', ')}.`,
    xLabel: 'Line: 95% interval over seeds; dots: single runs',
    categories: shown.map(({ variant, seeds }) => ({ label: variant, note: `n=${seeds.length}` })),
    y: {
      label: isShare(name) ? `${figureTitles[name]} (% of trials)` : figureTitles[name],
      include: isShare(name) ? [0, 10] : [0],
    },
    series: [{ name: 'mean over seeds', mark: 'bar', data }],
  }
}

/** What was read, by category. */
export function readsStack({ variants }: Summary): StackChart {
  const shown = variants.filter(({ seeds }) => seeds.length > 0)
  const used = readCategories.filter(
    (category) => category !== 'unadvertised' || shown.some(({ reads }) => reads[category] > 0),
  )
  return {
    id: 'reads',
    title: 'What is read',
    description: `${shown.map(({ variant, reads }) => `${variant}: ${used.map((c) => `${c} ${reads[c].toFixed(2)}`).join(', ')}`).join('; ')}.`,
    xLabel: 'Mean over seeds',
    categories: shown.map(({ variant }) => ({ label: variant })),
    y: { label: 'Reads a trial, by category of the skill', include: [0] },
    series: used.map((category) => ({ name: category, values: shown.map(({ reads }) => reads[category]) })),
  }
}
