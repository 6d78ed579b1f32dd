import type { Observation } from '../observation.js'
import type { AuditOptions } from '../options.js'
import type { Slates } from '../slates.js'

/** What a line needs besides itself. */
export interface LineContext {
  options: AuditOptions
  /** Undefined: there is no file of slates. */
  slates: Slates | undefined
  /** The number in the file's name, for lines that do not say their step. */
  fileStep: number
}

/** Reads the value of a line: an observation, or what is wrong with it. */
export type LineFormat = (value: unknown, context: LineContext) => Observation | string

export const needsTokenizer = (what: string) => `expected the option tokenizer, to ${what}`
