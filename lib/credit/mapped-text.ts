/** A text whose UTF-16 unit `i` came from the bytes `at[i]` to `at[i + 1]`. */
export interface MappedText {
  text: string
  /** One entry more than `text` has units. */
  at: Int32Array
}

const lossy = new TextDecoder('utf-8', { ignoreBOM: true })

/** UTF-8 to text; a byte that is no part of a character becomes U+FFFD. The first byte counts as `base`. */
export function mapBytes(bytes: Uint8Array, base: number): MappedText {
  const at: number[] = []
  let text = ''
  for (let place = 0; place < bytes.length; ) {
    const size = characterSize(bytes, place)
    const isAscii = bytes[place]! < 0x80
    const character = isAscii
      ? String.fromCharCode(bytes[place]!)
      : lossy.decode(bytes.subarray(place, place + size))
    for (let unit = 0; unit < character.length; unit++) at.push(base + place)
    text += character
    place += size
  }
  at.push(base + bytes.length)
  return { text, at: Int32Array.from(at) }
}

/** Bytes of the character at `place`, 1 where they are no valid UTF-8. */
function characterSize(bytes: Uint8Array, place: number): number {
  const lead = bytes[place]!
  const size = lead < 0x80 ? 1 : lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1
  if (size === 1 || place + size > bytes.length) return 1
  const text = lossy.decode(bytes.subarray(place, place + size))
  return text.includes('\uFFFD') && !isReplacement(bytes, place) ? 1 : size
}

/** U+FFFD itself, written out. */
function isReplacement(bytes: Uint8Array, place: number): boolean {
  return bytes[place] === 0xef && bytes[place + 1] === 0xbf && bytes[place + 2] === 0xbd
}

export function sliceMapped({ text, at }: MappedText, start: number, end: number): MappedText {
  return { text: text.slice(start, end), at: at.slice(start, end + 1) }
}

/** Without white space at either end. */
export function trimMapped(mapped: MappedText): MappedText {
  const start = mapped.text.length - mapped.text.trimStart().length
  return sliceMapped(mapped, start, Math.max(start, mapped.text.trimEnd().length))
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }

/** The value of a JSON string whose inside, between the quotes, this is. */
export function unescapeMapped({ text, at }: MappedText): MappedText {
  const units: string[] = []
  const places: number[] = []
  for (let i = 0; i < text.length; ) {
    let length = 1
    let unit = text[i]!
    if (unit === '\\' && i + 1 < text.length) {
      const kind = text[i + 1]!
      const hex = kind === 'u' ? /^[0-9a-fA-F]{4}$/.exec(text.slice(i + 2, i + 6))?.[0] : undefined
      length = hex === undefined ? 2 : 6
      unit = hex === undefined ? (escapes[kind] ?? kind) : String.fromCharCode(Number.parseInt(hex, 16))
    }
    units.push(unit)
    places.push(at[i]!)
    i += length
  }
  places.push(at.at(-1)!)
  return { text: units.join(''), at: Int32Array.from(places) }
}
