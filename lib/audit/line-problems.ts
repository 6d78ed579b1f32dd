import { SkillgateError } from '../errors.js'

/** How many bad lines one error lists; the rest are counted. */
const LISTED = 20

/** Collects what is wrong in files, so that one error says all of it. */
export class LineProblems {
  readonly #listed: string[] = []
  #count = 0

  add(file: string, line: number, text: string): void {
    this.#count += 1
    if (this.#count <= LISTED) this.#listed.push(`${file}:${line}: ${text}`)
  }

  /** @throws ERR_AUDIT listing the first bad lines */
  throwIfAny(): void {
    if (this.#count === 0) return
    const more = this.#count > LISTED ? [`and ${this.#count - LISTED} more`] : []
    const head = this.#count === 1 ? 'one bad line' : `${this.#count} bad lines`
    throw new SkillgateError('ERR_AUDIT', `${head}:\n  ${[...this.#listed, ...more].join('\n  ')}`)
  }
}
