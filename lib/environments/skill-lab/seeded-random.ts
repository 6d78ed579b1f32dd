/** A generator of random numbers (sfc32): the same seed gives the same numbers on every machine. */
export class SeededRandom {
  #a: number
  #b: number
  #c: number
  #counter = 1
  #spare: number | undefined

  /** `seed` and `stream` are safe integers of 0 or more; each pair gives a sequence of its own. */
  constructor(seed: number, stream = 0) {
    this.#a = seed >>> 0
    this.#b = Math.floor(seed / 2 ** 32) >>> 0
    this.#c = stream >>> 0
    for (let i = 0; i < 16; i++) this.#next()
  }

  /** The next 32 bits. */
  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** In [0, 1), 53 bits of it. */
  uniform(): number {
    const high = this.#next() >>> 5
    return (high * 2 ** 26 + (this.#next() >>> 6)) / 2 ** 53
  }

  /** An integer from 0 to below `n`. */
  below(n: number): number {
    return Math.floor(this.uniform() * n)
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('expected at least one item to pick from, got none')
    return items[this.below(items.length)]!
  }

  shuffled<T>(items: readonly T[]): T[] {
    const list = [...items]
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const item = list[i]!
      list[i] = list[j]!
      list[j] = item
    }
    return list
  }

  /** `count` different items, in random order. */
  sample<T>(items: readonly T[], count: number): T[] {
    return this.shuffled(items).slice(0, count)
  }

  /** Standard normal (Box-Muller). */
  normal(): number {
    if (this.#spare !== undefined) {
      const value = this.#spare
      this.#spare = undefined
      return value
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()))
    const angle = 2 * Math.PI * this.uniform()
    this.#spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}
