/** A piece of SVG text. */
export type Svg = string

type Attributes = Record<string, string | number | undefined>

/** `&`, `<`, `>` and quotes as entities; characters XML does not allow, lone surrogates too, are left out. */
export function escapeXml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"']/g, (character) => entities[character]!)
}

/** An element. Numbers are rounded to hundredths of a unit; attributes that are undefined are left out. */
export function element(name: string, attributes: Attributes, ...children: Svg[]): Svg {
  const written = Object.entries(attributes).map(([key, value]) => {
    if (value === undefined) return ''
    const text = typeof value === 'number' ? String(Math.round(value * 100) / 100) : escapeXml(value)
    return ` ${key}="${text}"`
  })
  const start = `<${name}${written.join('')}`
  return children.length === 0 ? `${start}/>` : `${start}>${children.join('')}</${name}>`
}

/** A line of text; `anchor` tells which part of it lies at x. */
export function label(
  text: string,
  place: { x: number; y: number; anchor?: 'start' | 'middle' | 'end'; class?: string; transform?: string },
): Svg {
  const { anchor, ...attributes } = place
  return element('text', { ...attributes, 'text-anchor': anchor }, escapeXml(text))
}
