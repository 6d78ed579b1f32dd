import type { FileHandle } from 'node:fs/promises'

export interface Line {
  /** 1-based. */
  number: number
  /** Without its line end; empty where there is a problem. */
  text: string
  /** Why the bytes are no line of text: not UTF-8, or too long to hold. */
  problem?: string
}

const CHUNK = 1 << 20
/** Longest line taken, in bytes. */
export const MAX_LINE_BYTES = 256 << 20

/**
 * Lines of a UTF-8 file, split at `\n` alone: JSON text may hold U+2028 and a bare `\r`, which line readers made for
 * terminals take for line ends. A byte order mark and the `\r` of a `\r\n` are removed. A line that cannot be decoded
 * comes with its problem; those after it are read as usual.
 */
export async function* readLines(file: FileHandle, maxBytes = MAX_LINE_BYTES): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let parts: Buffer[] = []
  let length = 0
  let number = 0
  const take = (): Line => {
    number += 1
    const bytes = Buffer.concat(parts)
    const total = length
    parts = []
    length = 0
    if (total > maxBytes) {
      return { number, text: '', problem: `expected at most ${maxBytes} bytes in a line, got ${total}` }
    }
    try {
      const text = decoder.decode(bytes)
      const from = number === 1 && text.charCodeAt(0) === 0xfeff ? 1 : 0
      return { number, text: text.slice(from, text.endsWith('\r') ? -1 : undefined) }
    } catch {
      return { number, text: '', problem: 'expected UTF-8 text, got other bytes' }
    }
  }
  const hold = (bytes: Buffer) => {
    if (length <= maxBytes) parts.push(bytes)
    length += bytes.length
  }
  for (;;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK) })
    if (bytesRead === 0) break
    let from = 0
    for (let at = buffer.indexOf(10); at !== -1 && at < bytesRead; at = buffer.indexOf(10, from)) {
      hold(buffer.subarray(from, at))
      yield take()
      from = at + 1
    }
    hold(buffer.subarray(from, bytesRead))
  }
  if (length > 0) yield take()
}
