import { type AxisScale, axisScale, type ValueAxis } from './axis-scale.js'
import { type LegendItem, legend } from './legend.js'
import { element, label, type Svg } from './svg.js'
import { textWidth, wrapText } from './text-width.js'
import { figureStyle } from './theme.js'

/** Units across every figure: about the width of a phone in pixels, so that text is read at its own size there. */
export const figureWidth = 360
export const fontSize = 12

const edge = 8
const titleLine = 19
const textLine = 16

/** What every figure has. */
export interface FigureText {
  /** Tells the figure among those of a page; letters, digits and hyphens. */
  id: string
  title: string
  /** What the figure shows, for those who cannot see it. */
  description: string
}

export interface FigureOptions {
  /** False: neither title nor style, for a page that has both. Default true. */
  standalone?: boolean
}

export interface FrameSpec extends FigureText {
  y: ValueAxis
  xLabel: string
  legend: readonly LegendItem[]
  /** Every value the y axis must reach. */
  values: readonly number[]
  /** Units the plot is high. */
  plotHeight: number
  /** Units kept free inside the plot at its ends, for the text beside marks. */
  headroom: { top: number; bottom: number }
}

/** The plot's place, its y scale, and what stands above and left of it. */
export interface Frame {
  left: number
  right: number
  top: number
  bottom: number
  y: AxisScale
  /** Title, legend, label and ticks of the y axis, grid. */
  drawn: Svg[]
}

/** Lays out everything above the x axis. */
export function frame(spec: FrameSpec, options: FigureOptions): Frame {
  const drawn: Svg[] = []
  let top = edge
  const lines = (text: string, size: number, height: number, className?: string) => {
    for (const line of wrapText(text, size, figureWidth - 2 * edge)) {
      top += height
      drawn.push(label(line, { x: edge, y: top - 4, class: className }))
    }
  }
  if (options.standalone !== false) {
    lines(spec.title, 15, titleLine, 'title')
    top += 4
  }
  const items = legend(spec.legend, { left: edge, top, width: figureWidth - 2 * edge })
  drawn.push(items.drawn)
  top += items.height
  lines(spec.y.label, fontSize, textLine, 'muted')
  top += 8

  const bottom = top + spec.headroom.top + spec.plotHeight + spec.headroom.bottom
  const y = axisScale(spec.y, spec.values, [bottom - spec.headroom.bottom, top + spec.headroom.top])
  const left = edge + 6 + Math.max(18, ...y.ticks.map(({ text }) => textWidth(text, fontSize)))
  const right = figureWidth - edge
  for (const { value, text } of y.ticks) {
    const at = y.at(value)
    drawn.push(element('line', { class: 'grid', x1: left, x2: right, y1: at, y2: at }))
    drawn.push(label(text, { x: left - 6, y: at + 4, anchor: 'end' }))
  }
  return { left, right, top, bottom, y, drawn }
}

/** Puts a figure together: all that was drawn, and the label of the x axis below `bottom`. */
export function figure(
  spec: FigureText & { xLabel: string },
  drawn: readonly Svg[],
  bottom: number,
  options: FigureOptions,
): Svg {
  const rows = wrapText(spec.xLabel, fontSize, figureWidth - 2 * edge)
  const xLabel = rows.map((row, i) =>
    label(row, { x: figureWidth / 2, y: bottom + textLine * (i + 1), anchor: 'middle', class: 'muted' }),
  )
  const height = Math.ceil(bottom + textLine * rows.length + edge)
  const standalone = options.standalone !== false
  const attributes = {
    ...(standalone
      ? { xmlns: 'http://www.w3.org/2000/svg', width: 2 * figureWidth, height: 2 * height }
      : {}),
    viewBox: `0 0 ${figureWidth} ${height}`,
    class: 'figure',
    role: 'img',
    'aria-label': `${spec.title}. ${spec.description}`,
  }
  const ground = element('rect', { class: 'surface', width: figureWidth, height })
  const own = standalone ? [element('style', {}, figureStyle.replaceAll('&', '&amp;')), ground] : []
  return element('svg', attributes, ...own, ...drawn, ...xLabel)
}
