import { hashIntegers } from '../tasks/hash.js'
import type { Demonstration } from './demonstration.js'

/** `index` demonstrations of epoch `epoch` are drawn. Plain JSON. */
export interface OrderState {
  epoch: number
  index: number
}

/** Keeps this use of the hash apart from others with the same numbers. */
const ORDER = 4

/**
 * Draws demonstrations for ever. Each epoch holds every one once, tasks in an order that is a function of seed and epoch alone, the
 * demonstrations of a task side by side.
 */
export class DemonstrationOrder {
  readonly #groups: readonly number[][]
  readonly #count: number
  readonly #seed: number
  #epoch: number
  #index: number
  #order: number[]

  constructor(demonstrations: readonly Pick<Demonstration, 'taskId'>[], seed: number, state: OrderState) {
    const groups = new Map<string | number, number[]>()
    for (const [i, { taskId }] of demonstrations.entries())
      groups.set(taskId ?? i, [...(groups.get(taskId ?? i) ?? []), i])
    this.#groups = [...groups.values()]
    this.#count = demonstrations.length
    this.#seed = seed
    const done = state.index >= this.#count
    this.#epoch = done ? state.epoch + 1 : state.epoch
    this.#index = done ? 0 : state.index
    this.#order = this.#orderOf(this.#epoch)
  }

  get state(): OrderState {
    return { epoch: this.#epoch, index: this.#index }
  }

  /** Demonstrations drawn since the beginning. */
  get drawn(): number {
    return this.#epoch * this.#count + this.#index
  }

  /** Places of the next `count` demonstrations. */
  take(count: number): number[] {
    const taken: number[] = []
    while (taken.length < count) {
      taken.push(this.#order[this.#index]!)
      this.#index += 1
      if (this.#index < this.#count) continue
      this.#epoch += 1
      this.#index = 0
      this.#order = this.#orderOf(this.#epoch)
    }
    return taken
  }

  /** Fisher-Yates over the tasks. */
  #orderOf(epoch: number): number[] {
    const groups = [...this.#groups]
    for (let i = groups.length - 1; i > 0; i--) {
      const j = hashIntegers(ORDER, this.#seed, epoch, i) % (i + 1)
      ;[groups[i], groups[j]] = [groups[j]!, groups[i]!]
    }
    return groups.flat()
  }
}
