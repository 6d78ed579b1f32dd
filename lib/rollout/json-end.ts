/**
 * Where the JSON object that begins at `start` ends, without reading further than it is well formed: strings are skipped whole,
 * so braces and tags inside them do not count. Undefined where it does not end.
 */
export function jsonObjectEnd(source: string, start: number): number | undefined {
  let depth = 0
  for (let place = start; place < source.length; place++) {
    const character = source[place]!
    if (character === '"') {
      const end = stringEnd(source, place)
      if (end === undefined) return undefined
      place = end
    } else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') {
      if (--depth === 0) return place + 1
    } else if (!/[\s\w:,.+-]/.test(character)) return undefined
  }
  return undefined
}

/** The place of the quote that closes a string, or undefined at a raw control character, which no JSON string holds. */
function stringEnd(source: string, start: number): number | undefined {
  for (let place = start + 1; place < source.length; place++) {
    const code = source.charCodeAt(place)
    if (code === 0x22) return place
    if (code < 0x20) return undefined
    if (code === 0x5c) place++
  }
  return undefined
}
