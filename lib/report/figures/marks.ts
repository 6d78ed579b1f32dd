import { element, type Svg } from './svg.js'
import { seriesColours } from './theme.js'

export interface Point {
  x: number
  y: number
}

/** The class of a series' colour. */
export const colourOf = (series: number) => `s${series % seriesColours}`

const dashes = ['', '6 3', '2 3', '9 3 2 3', '4 2 1 2', '12 4', '7 2 2 2 2 2']

/** A straight line through points. Series differ by dash, too. */
export function lineThrough(points: readonly Point[], series: number): Svg {
  if (points.length < 2) return ''
  const d = points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`).join('')
  const dash = dashes[series % dashes.length]
  return element('path', { class: `line ${colourOf(series)}`, d, 'stroke-dasharray': dash || undefined })
}

/** Corners of each marker around 0, about 9 units wide. */
const markers: readonly (readonly [number, number][] | 'circle')[] = [
  'circle',
  [
    [-4, -4],
    [4, -4],
    [4, 4],
    [-4, 4],
  ],
  [
    [0, -5],
    [4.6, 3.6],
    [-4.6, 3.6],
  ],
  [
    [0, -5.4],
    [5.4, 0],
    [0, 5.4],
    [-5.4, 0],
  ],
  [
    [0, 5],
    [4.6, -3.6],
    [-4.6, -3.6],
  ],
]

/** A series' marker: another shape for each of five, full and hollow in turn. */
export function marker({ x, y }: Point, series: number): Svg {
  const shape = markers[series % markers.length]!
  const paint = `${series % 2 === 0 ? 'full' : 'hollow'} ${colourOf(series)}`
  if (shape === 'circle') return element('circle', { class: paint, cx: x, cy: y, r: 4.2 })
  const points = shape.map(([dx, dy]) => `${round(x + dx)},${round(y + dy)}`).join(' ')
  return element('polygon', { class: paint, points })
}

/** A single value among those a mark sums up. */
export function dot(x: number, y: number): Svg {
  return element('circle', { class: 'dot', cx: x, cy: y, r: 2.1 })
}

/** An interval: a vertical line with a short one at either end. Over a bar it stands out by a seam around it. */
export function whisker(x: number, low: number, high: number, series: number, barWidth?: number): Svg {
  const half = Math.min(5, (barWidth ?? 20) * 0.28)
  const [left, right] = [round(x - half), round(x + half)]
  const d = `M${round(x)} ${round(low)}V${round(high)}M${left} ${round(low)}H${right}M${left} ${round(high)}H${right}`
  if (barWidth === undefined) return element('path', { class: `whisker ${colourOf(series)}`, d })
  return element('path', { class: 'halo', d }) + element('path', { class: 'whisker over', d })
}

/** The area between the ends of intervals. */
export function band(low: readonly Point[], high: readonly Point[], series: number): Svg {
  if (low.length < 2) return ''
  const points = [...low, ...high.toReversed()].map(({ x, y }) => `${round(x)},${round(y)}`).join(' ')
  return element('polygon', { class: `band ${colourOf(series)}`, points })
}

/** Hatchings that tell bars of series apart; the first series' bars are full. */
const hatches = ['', 'M-2 2L2 -2M0 8L8 0M6 10L10 6', 'M0 4H8', 'M-2 6L2 10M0 0L8 8M6 -2L10 2', 'M4 0V8']

/** Whether bars of a series are full, not hatched. */
export const isFullBar = (series: number) => hatches[series % hatches.length] === ''

/** Definitions the bars of a figure need; `id` tells the figure among those of a page. */
export function hatchings(id: string, series: number): Svg {
  const patterns = Array.from({ length: series }, (_, i) => {
    const d = hatches[i % hatches.length]
    if (!d) return ''
    const size = { width: 8, height: 8, patternUnits: 'userSpaceOnUse' }
    const inside = [
      element('rect', { class: 'ground', width: 8, height: 8 }),
      element('path', { class: `hatch ${colourOf(i)}`, d }),
    ]
    return element('pattern', { id: `${id}-${i}`, ...size }, ...inside)
  })
  return patterns.every((pattern) => pattern === '') ? '' : element('defs', {}, ...patterns)
}

export function bar(
  box: { x: number; y: number; width: number; height: number },
  series: number,
  id: string,
): Svg {
  const isFull = isFullBar(series)
  const paint = `${isFull ? 'full' : 'edge'} ${colourOf(series)}`
  return element('rect', { class: paint, ...box, fill: isFull ? undefined : `url(#${id}-${series})` })
}

const round = (value: number) => Math.round(value * 100) / 100
