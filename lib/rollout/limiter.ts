/** Lets at most `limit` jobs run at a time; the others wait in the order in which they came. */
export class Limiter {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(limit: number) {
    this.#free = limit
  }

  async run<T>(job: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await job()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}
