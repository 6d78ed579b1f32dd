import { SkillgateError } from '../errors.js'
import { hashIntegers } from './hash.js'
import type { Task } from './task.js'

/** Where the drawing of tasks stands: `index` tasks of epoch `epoch` are drawn. Plain JSON. */
export interface DataState {
  epoch: number
  index: number
}

/** Draws tasks for ever: each epoch holds every task once, in an order that is a function of seed and epoch alone. */
export class DataPosition {
  readonly #tasks: readonly Task[]
  readonly #seed: number
  readonly #shuffle: boolean
  #epoch: number
  #index: number
  #order: Uint32Array

  /** `shuffle: false` keeps the given order in every epoch. */
  constructor(tasks: readonly Task[], options: { seed: number; shuffle?: boolean; state?: DataState }) {
    if (tasks.length === 0)
      throw new SkillgateError('ERR_TASKS', 'expected at least one task to draw from, got none')
    const { epoch, index } = options.state ?? { epoch: 0, index: 0 }
    if (
      !Number.isSafeInteger(epoch) ||
      epoch < 0 ||
      !Number.isSafeInteger(index) ||
      index < 0 ||
      index > tasks.length
    ) {
      throw new SkillgateError(
        'ERR_DATA_POSITION',
        `expected a data position with epoch >= 0 and index in 0..${tasks.length} (the number of tasks), ` +
          `got epoch ${epoch}, index ${index}; was the task file changed since the run was saved?`,
      )
    }
    this.#tasks = tasks
    this.#seed = options.seed
    this.#shuffle = options.shuffle ?? true
    const done = index === tasks.length
    this.#epoch = done ? epoch + 1 : epoch
    this.#index = done ? 0 : index
    this.#order = this.#orderOf(this.#epoch)
  }

  get state(): DataState {
    return { epoch: this.#epoch, index: this.#index }
  }

  next(): Task {
    const task = this.#tasks[this.#order[this.#index]!]!
    this.#index += 1
    if (this.#index === this.#tasks.length) {
      this.#epoch += 1
      this.#index = 0
      this.#order = this.#orderOf(this.#epoch)
    }
    return task
  }

  /** Fisher-Yates; the modulo's bias is below tasks / 2^53. */
  #orderOf(epoch: number): Uint32Array {
    const order = Uint32Array.from(this.#tasks, (_, i) => i)
    if (!this.#shuffle) return order
    for (let i = order.length - 1; i > 0; i--) {
      const j = hashIntegers(this.#seed, epoch, i) % (i + 1)
      const held = order[i]!
      order[i] = order[j]!
      order[j] = held
    }
    return order
  }
}
