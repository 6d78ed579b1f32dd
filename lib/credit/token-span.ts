import type { TokenRange } from '../rollout/trajectory.js'

/** Where each token begins in the bytes of all, and where the last ends: one entry more than tokens. */
export function tokenOffsets(tokenBytes: readonly Uint8Array[]): Int32Array {
  const offsets = new Int32Array(tokenBytes.length + 1)
  for (const [i, bytes] of tokenBytes.entries()) offsets[i + 1] = offsets[i]! + bytes.length
  return offsets
}

/** The tokens that touch a byte range, be it by one byte of a character; an empty range touches none. */
export function tokensTouching(offsets: Int32Array, bytes: TokenRange): TokenRange {
  const count = offsets.length - 1
  const start = firstIndex(count, (token) => offsets[token + 1]! > bytes.start)
  if (bytes.end <= bytes.start) return { start, end: start }
  return {
    start,
    end: Math.max(
      start,
      firstIndex(count, (token) => offsets[token]! >= bytes.end),
    ),
  }
}

/** The first index below `count` for which a condition that stays true becomes true, else `count`. */
function firstIndex(count: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
