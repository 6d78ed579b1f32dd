import { bar, lineThrough, marker } from './marks.js'
import { element, label, type Svg } from './svg.js'
import { textWidth } from './text-width.js'

export interface LegendItem {
  text: string
  /** How the series is drawn; a reference is a dashed line across the plot. */
  sample: { kind: 'line' | 'point' | 'bar'; series: number; id: string } | { kind: 'reference' }
}

const sampleWidth = 26
const rowHeight = 18
const fontSize = 12

/** Items from left to right, in as many rows as they need. */
export function legend(
  items: readonly LegendItem[],
  { left, top, width }: { left: number; top: number; width: number },
): { drawn: Svg; height: number } {
  const drawn: Svg[] = []
  let x = left
  let row = 0
  for (const { text, sample } of items) {
    const wide = sampleWidth + 5 + textWidth(text, fontSize)
    if (x > left && x + wide > left + width) {
      x = left
      row += 1
    }
    const middle = top + row * rowHeight + rowHeight / 2
    drawn.push(drawSample(sample, x, middle), label(text, { x: x + sampleWidth + 5, y: middle + 4 }))
    x += wide + 14
  }
  return { drawn: drawn.join(''), height: items.length === 0 ? 0 : (row + 1) * rowHeight + 4 }
}

function drawSample(sample: LegendItem['sample'], x: number, y: number): Svg {
  const ends = [
    { x, y },
    { x: x + sampleWidth, y },
  ]
  if (sample.kind === 'reference')
    return element('line', { class: 'reference', x1: x, x2: x + sampleWidth, y1: y, y2: y })
  if (sample.kind === 'bar')
    return bar({ x: x + 6, y: y - 6, width: 14, height: 12 }, sample.series, sample.id)
  const line = sample.kind === 'line' ? lineThrough(ends, sample.series) : ''
  return line + marker({ x: x + sampleWidth / 2, y }, sample.series)
}
