import { readFile } from 'node:fs/promises'
import { SkillgateError } from '../errors.js'

/** The text of a file, or undefined where there is none and it is optional. Errors name the file. */
export async function readModelText(
  file: string,
  code: string,
  options: { optional?: boolean } = {},
): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code: reason, message } = cause as NodeJS.ErrnoException
    if (reason === 'ENOENT' && options.optional) return undefined
    const what = reason === 'ENOENT' ? 'expected this file, found none' : message
    throw new SkillgateError(code, `${file}: ${what}`, { cause })
  }
}

/** A JSON object of a file, or undefined where there is none and it is optional. Errors name the file. */
export async function readModelJson(
  file: string,
  code: string,
  options: { optional?: boolean } = {},
): Promise<Record<string, unknown> | undefined> {
  const text = await readModelText(file, code, options)
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new SkillgateError(code, `${file}: expected JSON: ${(cause as Error).message}`, { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const got = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
    throw new SkillgateError(code, `${file}: expected a JSON object, got ${got}`)
  }
  return value as Record<string, unknown>
}
