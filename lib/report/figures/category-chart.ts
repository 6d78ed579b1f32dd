import type { ValueAxis } from './axis-scale.js'
import { type Category, categoryAxis } from './category-axis.js'
import { type FigureOptions, type FigureText, type Frame, figure, frame } from './frame.js'
import type { LegendItem } from './legend.js'
import { bar, hatchings, lineThrough, marker, whisker } from './marks.js'
import { element, label, type Svg } from './svg.js'
import { textWidth } from './text-width.js'

export interface Datum {
  value: number
  /** Ends of an interval. */
  low?: number
  high?: number
  /** Written beside the mark. */
  text?: string
}

export interface CategorySeries {
  name: string
  mark: 'bar' | 'point' | 'line'
  /** Side of the mark its text stands on. Default above. */
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
  const values = data.flatMap(({ value, low = value, high = value }) => [value, low, high])
  if (hasBars && chart.y.scale !== 'log') values.push(0)
  if (reference) values.push(reference.value)
  const below = series.some((one) => one.textSide === 'below' && one.data.some((datum) => datum?.text))
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
  let barIndex = 0
  const texts: Svg[] = []
  for (const [s, one] of series.entries()) {
    const width = one.mark === 'bar' ? Math.min(40, (axis.step * 0.78) / bars) : 0
    const offset = one.mark === 'bar' ? (barIndex++ - (bars - 1) / 2) * width : 0
    const room = one.mark === 'bar' && bars > 1 ? width : axis.step
    if (one.mark === 'line')
      for (const run of runs(one, chart, axis.centres, place)) drawn.push(lineThrough(run, s))
    for (const [c, datum] of one.data.entries()) {
      if (datum === null) continue
      const x = axis.centres[c]! + offset
      drawn.push(...drawDatum(datum, x, { series: s, width, id, place, mark: one.mark }))
      texts.push(textOf(datum, x, one.textSide ?? 'above', room, place))
    }
  }
  for (const [c, x] of axis.centres.entries())
    if (series.every((one) => one.data[c] === null || one.data[c] === undefined))
      drawn.push(label('\u2013', { x, y: place.bottom - 6, anchor: 'middle', class: 'muted' }))
  return figure(chart, [...drawn, ...texts], axis.bottom, options)
}

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

function drawDatum(
  { value, low, high }: Datum,
  x: number,
  own: { series: number; width: number; id: string; place: Frame; mark: CategorySeries['mark'] },
): Svg[] {
  const { series, width, id, mark, place } = own
  const { y, bottom } = place
  const drawn: Svg[] = []
  if (mark === 'bar') {
    const foot = y.ticks.some((tick) => tick.value <= 0) ? y.at(0) : bottom
    const [top, end] = [Math.min(foot, y.at(value)), Math.max(foot, y.at(value))]
    drawn.push(bar({ x: x - width / 2, y: top, width: width - 1, height: end - top }, series, id))
  }
  if (low !== undefined && high !== undefined) drawn.push(whisker(x, y.at(low), y.at(high), series))
  if (mark !== 'bar') drawn.push(marker({ x, y: y.at(value) }, series))
  return drawn
}

/** The text of a mark, beyond its interval; left out where the next one would touch it. */
function textOf(datum: Datum, x: number, side: 'above' | 'below', room: number, { y }: Frame): Svg {
  const { text = '', value, low = value, high = value } = datum
  if (text === '' || textWidth(text, 11) > room) return ''
  const at = side === 'above' ? y.at(Math.max(value, high)) - 8 : y.at(Math.min(value, low)) + 17
  return label(text, { x, y: at, anchor: 'middle', class: 'value' })
}

const across = ({ left, right, y }: Frame, value: number, name: string) =>
  element('line', { class: name, x1: left, x2: right, y1: y.at(value), y2: y.at(value) })
