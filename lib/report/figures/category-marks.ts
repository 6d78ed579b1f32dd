import type { Frame } from './frame.js'
import { bar, dot, isFullBar, marker, whisker } from './marks.js'
import { label, type Svg } from './svg.js'
import { textWidth } from './text-width.js'

/** One value of a series. */
export interface Datum {
  value: number
  /** Ends of an interval. */
  low?: number
  high?: number
  /** Written beside the mark. */
  text?: string
  /** The single values that the value sums up: a small dot each. */
  points?: readonly number[]
}

export interface MarkPlace {
  /** Its middle. */
  x: number
  /** Of a bar. */
  width: number
  side: 'above' | 'below'
  mark: 'bar' | 'point' | 'line'
  series: number
  /** Of the figure. */
  id: string
}

/** Of a mark's text; what is bold is wider. */
const textSize = 11 * 1.1
/** A bar this high holds its text. */
const holdsText = 24

export function drawMark(datum: Datum, place: MarkPlace, frame: Frame): Svg {
  const { x, width, mark, series, id } = place
  const { value, low, high } = datum
  const { y } = frame
  const box = { x: x - width / 2, width: width - 1, ...barEnds(value, frame) }
  const interval =
    low === undefined || high === undefined
      ? ''
      : whisker(x, y.at(low), y.at(high), series, mark === 'bar' ? width : undefined)
  const dots = (datum.points ?? []).map((point, i, all) => dot(x + spread(i, all.length, width), y.at(point)))
  const drawn =
    mark === 'bar' ? bar(box, series, id) + interval : interval + marker({ x, y: y.at(value) }, series)
  return drawn + dots.join('')
}

/** Dots stand side by side, left and right of the interval, so that equal values are seen. */
function spread(place: number, count: number, width: number): number {
  const room = Math.min(26, width * 0.8)
  const step = room / Math.max(1, count)
  const middle = (place - (count - 1) / 2) * step
  return Math.abs(middle) < 2 ? step / 3 : middle
}

/** Whether the texts of a series fit beside each other, each in `room`. */
export function textsFit(data: readonly (Datum | null)[], room: number): boolean {
  return data.every((datum) => textWidth(datum?.text ?? '', textSize) <= room)
}

/** The text of a mark: beyond its interval, or inside a bar without one. */
export function markText(datum: Datum, place: MarkPlace, frame: Frame): Svg {
  const { text = '', value, low = value, high = value } = datum
  const { x, width, side, mark, series } = place
  if (text === '') return ''
  const { y, height } = barEnds(value, frame)
  const isInside =
    mark === 'bar' &&
    datum.low === undefined &&
    isFullBar(series) &&
    height >= holdsText &&
    textWidth(text, textSize) <= width
  const above = isInside ? y + 15 : frame.y.at(Math.max(value, high)) - 8
  const below = isInside ? y + height - 7 : frame.y.at(Math.min(value, low)) + 17
  const name = isInside ? 'value inside' : 'value'
  return label(text, { x, y: side === 'above' ? above : below, anchor: 'middle', class: name })
}

/** From the value to zero, or to the lower end of an axis without it. */
function barEnds(value: number, { y, bottom }: Frame): { y: number; height: number } {
  const foot = y.ticks.some((tick) => tick.value <= 0) ? y.at(0) : bottom
  const top = Math.min(foot, y.at(value))
  return { y: top, height: Math.max(foot, y.at(value)) - top }
}
