import type { ValueAxis } from './axis-scale.js'
import { type Category, categoryAxis } from './category-axis.js'
import { type FigureOptions, type FigureText, figure, frame } from './frame.js'
import { bar, hatchings } from './marks.js'
import { label, type Svg } from './svg.js'

/** Parts of a whole by category: bars that stand on each other, the first series lowest. */
export interface StackChart extends FigureText {
  xLabel: string
  categories: readonly Category[]
  y: ValueAxis
  /** One value of 0 or more a category. */
  series: readonly { name: string; values: readonly number[] }[]
}

/** Draws a stack chart. Series differ by colour and hatching; the legend names them from the lowest up. */
export function stackChart(chart: StackChart, options: FigureOptions = {}): Svg {
  const { series, categories, id } = chart
  const heights = categories.map((_, c) => series.reduce((sum, { values }) => sum + (values[c] ?? 0), 0))
  const place = frame(
    {
      ...chart,
      values: [0, ...heights],
      plotHeight: 180,
      headroom: { top: 6, bottom: 0 },
      legend: series.map(({ name }, i) => ({ text: name, sample: { kind: 'bar', series: i, id } })),
    },
    options,
  )
  const axis = categoryAxis(categories, place)
  const width = Math.min(40, axis.step * 0.7)
  const drawn = [hatchings(id, series.length), ...place.drawn, ...axis.drawn]
  for (const [c, x] of axis.centres.entries()) {
    let foot = 0
    for (const [s, { values }] of series.entries()) {
      const value = values[c] ?? 0
      const [low, high] = [place.y.at(foot), place.y.at(foot + value)]
      foot += value
      if (low - high < 0.05) continue
      drawn.push(bar({ x: x - width / 2, y: high, width, height: low - high }, s, id))
    }
    if (foot === 0) drawn.push(label('\u2013', { x, y: place.bottom - 6, anchor: 'middle', class: 'muted' }))
  }
  return figure(chart, drawn, axis.bottom, options)
}
