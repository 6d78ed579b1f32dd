import { displayWidth } from './table.js'

/** Where progress goes: a terminal, a file, a pipe. */
export interface ProgressStream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

const fastest = 100
const slowest = 20_000

/**
 * Lines that stay, and one live line below them. On a terminal the live line is rewritten in place; elsewhere it becomes a plain line
 * every 20 seconds, so that a log shows that something goes on.
 */
export class Progress {
  readonly #stream: ProgressStream
  readonly #now: () => number
  #live = ''
  #shownAt: number

  constructor(stream: ProgressStream = process.stdout, now: () => number = Date.now) {
    this.#stream = stream
    this.#now = now
    this.#shownAt = now()
  }

  /** Prints a line, or several. */
  line(text: string): void {
    this.#clear()
    this.#stream.write(`${text}\n`)
    this.#shownAt = this.#now()
  }

  /** Shows what is going on now, until the next call. */
  live(text: string): void {
    const since = this.#now() - this.#shownAt
    if (!this.#stream.isTTY) {
      if (since >= slowest) this.line(text)
      return
    }
    if (this.#live !== '' && since < fastest) return
    this.#clear()
    this.#live = cut(text, (this.#stream.columns || 80) - 1)
    this.#stream.write(this.#live)
    this.#shownAt = this.#now()
  }

  /** Takes the live line away. */
  end(): void {
    this.#clear()
  }

  #clear(): void {
    if (this.#live === '') return
    this.#stream.write('\r\x1b[2K')
    this.#live = ''
  }
}

function cut(text: string, columns: number): string {
  let kept = text.replace(/\s+/g, ' ')
  while (kept !== '' && displayWidth(kept) > columns) kept = kept.slice(0, -1)
  return kept
}
