import type { ValueAxis } from './axis-scale.js'
import { type Category, categoryAxis } from './category-axis.js'
import { type Datum, drawMark, markText, textsFit } from './category-marks.js'
import { type FigureOptions, type FigureText, type Frame, figure, frame } from './frame.js'
import type { LegendItem } from './legend.js'
import { hatchings, lineThrough } from './marks.js'
import { element, label, type Svg } from './svg.js'

export type { Datum } from './category-marks.js'

export interface CategorySeries {
  name: string
  mark: 'bar' | 'point' | 'line'
  /** Side of the mark its text stands on. Default: above, and below a bar that goes down. */
  textSide?: 'above' | 'below'
  /** One entry a category; null: no such value. */
  data: readonly (Datum | null)[]
}

/** Values of some series by category. */
export interface CategoryChart extends FigureText {
  xLabel: string
  categories: readonly Category[]
  y: ValueAxis
  series: readonly CategorySeries[]
  /** A value to compare with: a dashed line across the plot. */
  reference?: { value: number; text: string }
}

/** Draws a category chart. A category without any value has a dash at its foot. */
export function categoryChart(chart: CategoryChart, options: FigureOptions = {}): Svg {
  const { series, categories, reference, id } = chart
  const hasBars = series.some(({ mark }) => mark === 'bar')
  const data = series.flatMap((one) => one.data.filter((datum) => datum !== null))
  const values = data.flatMap(({ value, low = value, high = value, points = [] }) => [
    value,
    low,
    high,
    ...points,
  ])
  if (hasBars && chart.y.scale !== 'log') values.push(0)
  if (reference) values.push(reference.value)
  const below = series.some((one) =>
    one.data.some((datum) => datum?.text && textSide(one, datum) === 'below'),
  )
  const place = frame(
    {
      ...chart,
      values,
      plotHeight: 170,
      headroom: { top: 18, bottom: below ? 18 : 0 },
      legend: legendOf(chart),
    },
    options,
  )
  const axis = categoryAxis(categories, place)
  const drawn = [...place.drawn, ...axis.drawn]
  if (hasBars) drawn.unshift(hatchings(id, series.length))
  if (reference) drawn.push(across(place, reference.value, 'reference'))
  const ticks = place.y.ticks.map(({ value }) => value)
  if (chart.y.scale !== 'log' && ticks.some((t) => t < 0) && ticks.some((t) => t >= 0))
    drawn.push(across(place, 0, 'axis'))

  const bars = series.filter(({ mark }) => mark === 'bar').length
  const width = Math.min(40, (axis.step * 0.78) / Math.max(1, bars))
  let barsBefore = 0
  const texts: Svg[] = []
  for (const [s, one] of series.entries()) {
    const isBar = one.mark === 'bar'
    const offset = isBar ? (barsBefore - (bars - 1) / 2) * width : besideEachOther(series, s)
    const own = { series: s, mark: one.mark, width, id }
    const withTexts = textsFit(one.data, isBar && bars > 1 ? width : axis.step)
    if (isBar) barsBefore += 1
    if (one.mark === 'line')
      for (const run of runs(one, chart, axis.centres, place))
        drawn.push(
          lineThrough(
            run.map(({ x, y }) => ({ x: x + offset, y })),
            s,
          ),
        )
    for (const [c, datum] of one.data.entries()) {
      if (datum === null) continue
      const at = { ...own, x: axis.centres[c]! + offset, side: textSide(one, datum) }
      drawn.push(drawMark(datum, at, place))
      if (withTexts) texts.push(markText(datum, at, place))
    }
  }
  for (const [c, x] of axis.centres.entries())
    if (series.every((one) => one.data[c] === null || one.data[c] === undefined))
      drawn.push(label('\u2013', { x, y: place.bottom - 6, anchor: 'middle', class: 'muted' }))
  return figure(chart, [...drawn, ...texts], axis.bottom, options)
}

/** Marks with single values stand a little apart from those of other series, so that all are seen. */
function besideEachOther(series: readonly CategorySeries[], place: number): number {
  const single = series.some(({ data }) => data.some((datum) => datum?.points))
  return single ? (place - (series.length - 1) / 2) * 12 : 0
}

const textSide = (series: CategorySeries, { value }: Datum) =>
  series.textSide ?? (series.mark === 'bar' && value < 0 ? 'below' : 'above')

function legendOf({ series, reference, id }: CategoryChart): LegendItem[] {
  const items = series.map(
    ({ name, mark }, i): LegendItem => ({ text: name, sample: { kind: mark, series: i, id } }),
  )
  if (reference) items.push({ text: reference.text, sample: { kind: 'reference' } })
  return items
}

/** The points of a line, broken where a value is missing and where a category stands apart. */
function runs(
  { data }: CategorySeries,
  { categories }: CategoryChart,
  centres: readonly number[],
  { y }: Frame,
) {
  const found: { x: number; y: number }[][] = [[]]
  for (const [c, datum] of data.entries()) {
    if (datum === null || categories[c]?.apart) found.push([])
    if (datum !== null) found.at(-1)!.push({ x: centres[c]!, y: y.at(datum.value) })
  }
  return found
}

const across = ({ left, right, y }: Frame, value: number, name: string) =>
  element('line', { class: name, x1: left, x2: right, y1: y.at(value), y2: y.at(value) })
