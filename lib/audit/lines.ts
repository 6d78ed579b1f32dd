import { createReadStream } from 'node:fs'

/** One line of a JSONL file that is not blank. */
export interface JsonLine {
  /** 1-based. */
  number: number
  value?: unknown
  /** Why the line holds no JSON value. */
  problem?: string
}

/**
 * The JSON values of a UTF-8 file, one a line, split at `\n` alone: JSON text may hold U+2028 and a bare `\r`. A byte order
 * mark is passed over. A line that cannot be read comes with its problem; those after it are read as usual.
 */
export async function* jsonLines(path: string): AsyncGenerator<JsonLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest: Buffer[] = []
  let number = 0
  const take = (): JsonLine | undefined => {
    number += 1
    const bytes = Buffer.concat(rest)
    rest = []
    try {
      const text = decoder.decode(bytes)
      return text.trim() === '' ? undefined : { number, value: JSON.parse(text) }
    } catch (cause) {
      const invalid = (cause as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
      const reason = invalid ? 'the bytes are not UTF-8' : (cause as Error).message
      return { number, problem: `expected one JSON object a line: ${reason}` }
    }
  }
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      rest.push(chunk.subarray(from, at))
      const line = take()
      if (line) yield line
      from = at + 1
    }
    rest.push(chunk.subarray(from))
  }
  const line = take()
  if (line) yield line
}
