/**
 * Token ids of the texts encoded last. The rollouts of a group, and the demonstrations of a task, begin with the same long prompt: it is
 * encoded once.
 */
export class RecentTexts {
  readonly #most: number
  readonly #shortest: number
  readonly #ids = new Map<string, Int32Array>()

  /** Keeps `most` texts of at least `shortest` characters. */
  constructor(most = 64, shortest = 256) {
    this.#most = most
    this.#shortest = shortest
  }

  /** A copy of the ids of a text: kept ones, or what `encode` gives. */
  ids(text: string, encode: (text: string) => Int32Array): Int32Array {
    if (text.length < this.#shortest) return encode(text)
    const ids = this.#ids.get(text) ?? encode(text)
    this.#ids.delete(text)
    this.#ids.set(text, ids)
    if (this.#ids.size > this.#most) this.#ids.delete(this.#ids.keys().next().value!)
    return ids.slice()
  }
}
