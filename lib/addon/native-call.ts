import { SkillgateError } from '../errors.js'

/** An error of the addon as a SkillgateError with the caller's stack; anything else as it is. */
export function asSkillgateError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof SkillgateError) return error
  const { code } = error as { code?: unknown }
  if (typeof code !== 'string') return error
  return new SkillgateError(code, error.message, { cause: error })
}

/** Calls the addon; its errors come out as SkillgateError. */
export function nativeCall<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw asSkillgateError(error)
  }
}

/** Refuses fields that `known` does not name: ERR_UNKNOWN_OPTION. What is not an object is left to the addon's checks. */
export function checkFields(where: string, input: unknown, known: readonly string[]): void {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || ArrayBuffer.isView(input)) return
  const unknown = Object.keys(input).find((key) => !known.includes(key))
  if (unknown === undefined) return
  throw new SkillgateError(
    'ERR_UNKNOWN_OPTION',
    `${where}: expected fields among ${known.join(', ')}, got ${JSON.stringify(unknown)}`,
  )
}
