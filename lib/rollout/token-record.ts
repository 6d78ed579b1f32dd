import type { TokenRange, TrajectorySequence } from './trajectory.js'

/** A sampled turn's place: where it ends in the text and in the ids, and the token that ended it, if one did. */
export interface SampledTurn {
  /** Index of its message. */
  message: number
  textEnd: number
  tokenEnd: number
  endToken?: number
}

/** A growing sequence: the text a template would have written, and its ids with what was sampled among them. */
export class TokenRecord {
  text = ''
  readonly sampled: SampledTurn[] = []
  readonly #tokens: number[] = []
  readonly #generated: number[] = []
  readonly #logprobs: number[] = []
  readonly #turns: TokenRange[] = []

  get length(): number {
    return this.#tokens.length
  }

  /** Turns sampled in this sequence; those before a branch are not. */
  get turnCount(): number {
    return this.#turns.length
  }

  appendPrompt(text: string, ids: Int32Array): void {
    this.text += text
    for (const id of ids) this.#push(id, 0, 0)
  }

  appendTurn(
    text: string,
    ids: Int32Array,
    logprobs: ArrayLike<number>,
    turn: Omit<SampledTurn, 'textEnd' | 'tokenEnd'>,
  ) {
    const start = this.length
    this.text += text
    for (const [i, id] of ids.entries()) this.#push(id, 1, logprobs[i]!)
    this.#turns.push({ start, end: this.length })
    this.sampled.push({ ...turn, textEnd: this.text.length, tokenEnd: this.length })
  }

  /** A new sequence that shares the beginning through the sampled turn `turn` (none: nothing); it has no turns of its own yet. */
  branch(turn: SampledTurn | undefined): TokenRecord {
    const branch = new TokenRecord()
    branch.text = this.text.slice(0, turn?.textEnd ?? 0)
    for (const id of this.#tokens.slice(0, turn?.tokenEnd ?? 0)) branch.#push(id, 0, 0)
    branch.sampled.push(...this.sampled.filter((earlier) => turn && earlier.tokenEnd <= turn.tokenEnd))
    return branch
  }

  /** The ids so far, then `more`. */
  tokensWith(more: Int32Array): Int32Array {
    const tokens = new Int32Array(this.length + more.length)
    tokens.set(this.#tokens)
    tokens.set(more, this.length)
    return tokens
  }

  /** What is trained: everything through the last sampled turn. */
  sequence(): TrajectorySequence {
    const end = this.#turns.at(-1)?.end ?? 0
    return {
      tokens: Int32Array.from(this.#tokens.slice(0, end)),
      generated: Uint8Array.from(this.#generated.slice(0, end)),
      logprobs: Float32Array.from(this.#logprobs.slice(0, end)),
      turns: this.#turns.map((turn) => ({ ...turn })),
    }
  }

  #push(id: number, generated: 0 | 1, logprob: number): void {
    this.#tokens.push(id)
    this.#generated.push(generated)
    this.#logprobs.push(logprob)
  }
}
