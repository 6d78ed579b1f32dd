import { axisScale, type ValueAxis } from './axis-scale.js'
import { type FigureOptions, type FigureText, figure, frame } from './frame.js'
import { band, lineThrough, marker } from './marks.js'
import { element, label, type Svg } from './svg.js'

export interface CurvePoint {
  x: number
  y: number
  /** Ends of an interval: the area between is shaded. */
  low?: number
  high?: number
}

/** Curves over a number, such as a training step. */
export interface LineChart extends FigureText {
  xLabel: string
  y: ValueAxis
  /** Points in order of x. */
  series: readonly { name: string; points: readonly CurvePoint[] }[]
}

/** Markers of a curve: enough to tell it, not one a step. */
const markers = 8

/** Draws a line chart. Curves differ by colour, dash and marker. */
export function lineChart(chart: LineChart, options: FigureOptions = {}): Svg {
  const points = chart.series.flatMap((one) => one.points)
  const place = frame(
    {
      ...chart,
      values: points.flatMap(({ y, low = y, high = y }) => [y, low, high]),
      plotHeight: 180,
      headroom: { top: 6, bottom: 6 },
      legend: chart.series.map(({ name }, series) => ({
        text: name,
        sample: { kind: 'line', series, id: chart.id },
      })),
    },
    options,
  )
  const { left, right, bottom, y } = place
  const xs = points.map((point) => point.x)
  const x = axisScale({ include: xs.length === 0 ? [0, 1] : [] }, xs, [left + 6, right - 12])
  const drawn = [
    ...place.drawn,
    element('line', { class: 'axis', x1: left, x2: right, y1: bottom, y2: bottom }),
  ]
  for (const { value, text } of x.ticks) {
    const at = x.at(value)
    drawn.push(element('line', { class: 'axis', x1: at, x2: at, y1: bottom, y2: bottom + 4 }))
    drawn.push(label(text, { x: at, y: bottom + 17, anchor: 'middle' }))
  }
  const placed = chart.series.map((one) =>
    one.points.map((point) => ({ ...point, x: x.at(point.x), y: y.at(point.y) })),
  )
  for (const [series, curve] of placed.entries()) {
    const known = curve.filter((point) => point.low !== undefined && point.high !== undefined)
    const edge = (of: 'low' | 'high') => known.map((point) => ({ x: point.x, y: y.at(point[of]!) }))
    drawn.push(band(edge('low'), edge('high'), series))
  }
  for (const [series, curve] of placed.entries()) {
    drawn.push(lineThrough(curve, series))
    const every = Math.max(1, Math.ceil(curve.length / markers))
    // Curves that run together show their markers at different places.
    const first = Math.min(curve.length - 1, Math.floor((series * every) / chart.series.length))
    for (let i = first; i >= 0 && i < curve.length; i += every) drawn.push(marker(curve[i]!, series))
  }
  return figure(chart, drawn, bottom + 20, options)
}
