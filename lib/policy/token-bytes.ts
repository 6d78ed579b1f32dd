/** How the strings of a vocabulary stand for bytes. */
export interface TokenDecoding {
  /** Each character of a token is one byte (GPT-2's byte map). */
  byteLevel: boolean
  /** `<0xE4>` is the byte E4. */
  byteFallback: boolean
  /** Applied in order to every other token, e.g. `▁` to a space. */
  replacements: readonly (readonly [string, string])[]
  /** Decoding a whole text drops the space that encoding put before it. */
  dropsFirstSpace: boolean
}

interface Component {
  type?: unknown
  [key: string]: unknown
}

const encoder = new TextEncoder()
const byteOfCharacter = byteLevelAlphabet()

/** GPT-2's map from characters to bytes: printable bytes stand for themselves, the others follow from U+0100. */
function byteLevelAlphabet(): Map<string, number> {
  const map = new Map<string, number>()
  let next = 256
  for (let byte = 0; byte < 256; byte++) {
    const printable =
      (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
    map.set(String.fromCharCode(printable ? byte : next++), byte)
  }
  return map
}

/** Reads it off the `decoder` of a tokenizer.json. Throws an Error that names a decoder whose tokens have no bytes of their own. */
export function tokenDecoding(tokenizer: { decoder?: unknown; pre_tokenizer?: unknown }): TokenDecoding {
  const decoding = {
    byteLevel: false,
    byteFallback: false,
    replacements: [] as [string, string][],
    dropsFirstSpace: false,
  }
  if (tokenizer.decoder === null || tokenizer.decoder === undefined) {
    if (!components(tokenizer.pre_tokenizer, 'pretokenizers').some((part) => part.type === 'ByteLevel')) {
      throw new Error('expected a decoder, got none: the bytes of a token are then unknown')
    }
    return { ...decoding, byteLevel: true }
  }
  for (const part of components(tokenizer.decoder, 'decoders')) {
    if (part.type === 'ByteLevel') decoding.byteLevel = true
    else if (part.type === 'ByteFallback') decoding.byteFallback = true
    else if (part.type === 'Metaspace') {
      decoding.replacements.push([typeof part.replacement === 'string' ? part.replacement : '▁', ' '])
      decoding.dropsFirstSpace = part.prepend_scheme !== 'never' && part.add_prefix_space !== false
    } else if (part.type === 'Replace') decoding.replacements.push(replacement(part))
    else if (part.type === 'Strip') decoding.dropsFirstSpace = part.content === ' ' && Number(part.start) > 0
    else if (part.type !== 'Fuse') {
      throw new Error(
        `expected a decoder of ByteLevel, ByteFallback, Metaspace, Replace, Strip or Fuse, got ${JSON.stringify(part.type)}: ` +
          'its tokens have no bytes of their own',
      )
    }
  }
  return decoding
}

function components(component: unknown, list: string): Component[] {
  if (typeof component !== 'object' || component === null) return []
  const part = component as Component
  if (part.type !== 'Sequence') return [part]
  const parts = part[list]
  return Array.isArray(parts) ? parts.flatMap((item) => components(item, list)) : []
}

function replacement(part: Component): [string, string] {
  const pattern = (part.pattern as { String?: unknown } | undefined)?.String
  if (typeof pattern !== 'string' || pattern === '' || typeof part.content !== 'string') {
    throw new Error(
      `expected a Replace decoder of a string by a string, got ${JSON.stringify(part).slice(0, 200)}`,
    )
  }
  return [pattern, part.content]
}

/** The bytes of one vocabulary entry (not of an added token, which is its own text). */
export function tokenBytes(token: string, decoding: TokenDecoding): Uint8Array {
  if (decoding.byteLevel) {
    const bytes = Array.from(token, (character) => byteOfCharacter.get(character))
    return bytes.includes(undefined) ? encoder.encode(token) : Uint8Array.from(bytes as number[])
  }
  if (decoding.byteFallback && /^<0x[0-9a-f]{2}>$/i.test(token)) {
    return Uint8Array.of(Number.parseInt(token.slice(3, 5), 16))
  }
  let text = token
  for (const [from, to] of decoding.replacements) text = text.replaceAll(from, () => to)
  return encoder.encode(text)
}
