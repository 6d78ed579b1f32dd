import type { z } from 'zod'
import { SkillgateError } from '../errors.js'
import { describeOptions, type OptionDescription } from './describe.js'
import { suggestion } from './nearest.js'
import type { OptionSet, OptionsOut, Shape } from './option.js'

/** One option and what is wrong with it. */
export interface Problem {
  option: string
  /** `expected X, got Y`, or another sentence that stands by itself. */
  text: string
}

/** A value as a message shows it: short, with its type where that is not plain. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return value === null ? 'null' : 'nothing'
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'bigint' || typeof value === 'symbol') return `${String(value)} (${typeof value})`
  if (typeof value === 'string') {
    return value.length > 60
      ? `${JSON.stringify(value.slice(0, 57))}... (text)`
      : `${JSON.stringify(value)} (text)`
  }
  if (Array.isArray(value)) {
    const inside = value.length <= 4 && value.every((v) => typeof v === 'number')
    return inside ? `[${value.join(', ')}]` : `an array of ${value.length}`
  }
  return 'an object'
}

function problemOf(
  description: OptionDescription,
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
): string {
  const place =
    issues.length === 1 && issues[0]!.path.length > 0 ? ` at place ${issues[0]!.path.join('.')}` : ''
  const unit = description.unit ? ` (${description.unit})` : ''
  const near = typeof value === 'string' ? suggestion(value, description.choices ?? []) : ''
  return `expected ${description.expected}${unit}${place}, got ${shown(value)}${near}`
}

/** Every problem of `given`, and the options that are right, defaults filled in. */
export function inspectOptions<S extends Shape>(
  set: OptionSet<S>,
  given: object,
): { problems: Problem[]; options: Partial<OptionsOut<S>> } {
  const problems: Problem[] = []
  const options: Record<string, unknown> = {}
  const descriptions = describeOptions(set.shape)
  const names = descriptions.map((description) => description.name)
  for (const key of Object.keys(given)) {
    if (names.includes(key)) continue
    problems.push({ option: key, text: `there is no such option${suggestion(key, names)}` })
  }
  for (const description of descriptions) {
    const { name } = description
    const value = Object.hasOwn(given, name) ? (given as Record<string, unknown>)[name] : undefined
    const result = set.shape[name]!.safeParse(value)
    if (result.success) {
      if (result.data !== undefined) options[name] = result.data
    } else problems.push({ option: name, text: problemOf(description, value, result.error.issues) })
  }
  for (const rule of set.rules) {
    const text = rule(options as Partial<OptionsOut<S>>)
    if (!text) continue
    const at = text.indexOf(': ')
    problems.push({ option: text.slice(0, at), text: text.slice(at + 2) })
  }
  return { problems, options: options as Partial<OptionsOut<S>> }
}

export function configError(recipe: string, problems: readonly Problem[]): SkillgateError {
  const lines = problems.map(({ option, text }) => `  ${option}: ${text}`)
  const head = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  return new SkillgateError('ERR_CONFIG', `${head} in the options of ${recipe}:\n${lines.join('\n')}`)
}

/**
 * The options of a recipe with defaults filled in.
 * @throws ERR_CONFIG naming every unknown option and every wrong value at once
 */
export function checkOptions<S extends Shape>(set: OptionSet<S>, given: unknown): OptionsOut<S> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new SkillgateError(
      'ERR_CONFIG',
      `expected an object of options for ${set.recipe}, got ${shown(given)}`,
    )
  }
  const { problems, options } = inspectOptions(set, given)
  if (problems.length > 0) throw configError(set.recipe, problems)
  return options as OptionsOut<S>
}
