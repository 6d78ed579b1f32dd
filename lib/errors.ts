/** Every error skillgate raises on purpose: a stable `code`, and a message that names what was expected, where, and what came. */
export class SkillgateError extends Error {
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'SkillgateError'
    this.code = code
  }
}
