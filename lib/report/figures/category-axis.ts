import { figureWidth, fontSize } from './frame.js'
import { element, label, type Svg } from './svg.js'
import { textWidth } from './text-width.js'

export interface Category {
  label: string
  /** A word below the label, such as a count. */
  note?: string
  /** True: stands apart from those before it, behind a thin line. */
  apart?: boolean
}

export interface CategoryAxis {
  /** The middle of each category. */
  centres: number[]
  /** Units each category is wide. */
  step: number
  drawn: Svg[]
  /** Where the labels end. */
  bottom: number
}

const gap = 14

/** Places categories from left to right and writes their labels; labels that would touch each other are slanted. */
export function categoryAxis(
  categories: readonly Category[],
  box: { left: number; right: number; top: number; bottom: number },
): CategoryAxis {
  const gaps = categories.filter(({ apart }, i) => apart && i > 0).length
  const step = (box.right - box.left - gaps * gap) / Math.max(1, categories.length)
  const drawn: Svg[] = [line('axis', box.left, box.bottom, box.right, box.bottom)]
  const centres: number[] = []
  let x = box.left
  for (const [i, { apart }] of categories.entries()) {
    if (apart && i > 0) {
      drawn.push(line('grid', x + gap / 2, box.top, x + gap / 2, box.bottom))
      x += gap
    }
    centres.push(x + step / 2)
    x += step
  }
  const widest = Math.max(0, ...categories.map((category) => textWidth(category.label, fontSize)))
  const slanted = widest > step - 4
  const place = (i: number) => ({ x: centres[i]!, y: box.bottom + 16 })
  for (const [i, category] of categories.entries()) {
    if (!slanted) drawn.push(label(category.label, { ...place(i), anchor: 'middle' }))
    else drawn.push(slantedLabel(category.label, centres[i]!, box.bottom + 12))
  }
  let bottom = box.bottom + (slanted ? Math.ceil(16 + widest * 0.64) : 18)
  const notes = categories.map(({ note = '' }) => note)
  if (notes.some((note) => note !== '') && notes.every((note) => textWidth(note, 11) <= step - 4)) {
    bottom += 14
    for (const [i, note] of notes.entries())
      drawn.push(label(note, { x: centres[i]!, y: bottom - 3, anchor: 'middle', class: 'note' }))
  }
  return { centres, step, drawn, bottom: bottom + 2 }
}

/** Falls to the left, so that its end stands below its category; cut where it would leave the figure. */
function slantedLabel(text: string, x: number, y: number): Svg {
  const longest = (x - 4) / 0.77
  let shown = text
  while (shown.length > 1 && textWidth(shown, fontSize) > Math.min(longest, figureWidth / 2))
    shown = `${shown.slice(0, -2)}\u2026`
  return label(shown, { x, y, anchor: 'end', transform: `rotate(-40 ${Math.round(x)} ${Math.round(y)})` })
}

const line = (name: string, x1: number, y1: number, x2: number, y2: number) =>
  element('line', { class: name, x1, y1, x2, y2 })
