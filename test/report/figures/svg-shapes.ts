/** A text of a figure with the box it takes at most; turned texts have none. */
export interface TextBox {
  text: string
  className: string
  x: number
  y: number
  left: number
  right: number
  top: number
  bottom: number
}

interface Tag {
  name: string
  attributes: Record<string, string>
  /** What follows the tag, up to the next one. */
  text: string
}

/** Every tag of an SVG text in order. Throws where tags do not match each other or an `&` is no entity. */
export function tagsOf(svg: string): Tag[] {
  const open: string[] = []
  const tags: Tag[] = []
  let end = 0
  for (const match of svg.matchAll(/<(\/?)([a-z]+)((?: [a-zA-Z0-9-]+="[^"<]*")*)(\/?)>([^<]*)/g)) {
    if (match.index !== end) throw new Error(`no tag at ${end}: ${svg.slice(end, end + 40)}`)
    end = match.index + match[0].length
    const [, closing, name, written, empty, text] = match as unknown as string[]
    if (/&(?!(amp|lt|gt|quot|#39);)/.test(`${written}${text}`)) throw new Error(`a bare & in ${match[0]}`)
    if (closing) {
      if (open.pop() !== name) throw new Error(`</${name}> closes nothing`)
      continue
    }
    if (!empty) open.push(name!)
    const pairs = Array.from(written!.matchAll(/ ([a-zA-Z0-9-]+)="([^"]*)"/g), (pair) => [pair[1]!, pair[2]!])
    tags.push({ name: name!, attributes: Object.fromEntries(pairs), text: text! })
  }
  if (end !== svg.length || open.length > 0) throw new Error(`not closed: ${open.join(', ')}`)
  return tags
}

/** Boxes by a width of 0.55 em a character, about that of the fonts in use. */
export function textBoxes(svg: string): TextBox[] {
  return tagsOf(svg)
    .filter(({ name, attributes }) => name === 'text' && attributes.transform === undefined)
    .map(({ attributes, text }) => {
      const plain = text.replace(/&[^;]+;/g, '-')
      const className = attributes.class ?? ''
      const size = className === 'title' ? 14 : /note|value/.test(className) ? 11 : 12
      const width = plain.length * size * 0.55
      const [x, y] = [Number(attributes.x), Number(attributes.y)]
      const anchor = attributes['text-anchor']
      const left = anchor === 'middle' ? x - width / 2 : anchor === 'end' ? x - width : x
      return { text: plain, className, x, y, left, right: left + width, top: y - size * 0.75, bottom: y + 1 }
    })
}

/** Pairs of texts whose boxes touch. */
export function overlaps(boxes: readonly TextBox[]): string[] {
  return boxes.flatMap((a, i) =>
    boxes
      .slice(i + 1)
      .filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
      .map((b) => `"${a.text}" and "${b.text}"`),
  )
}
