import type { TokenCounter } from '../../lib/audit/options.js'

/** A token for each byte: counts are plain to see, and characters are split. */
export const bytesTokenizer: TokenCounter = {
  encode: (text) => Int32Array.from(Buffer.from(text)),
  bytesOf: (id) => Uint8Array.of(id),
}
