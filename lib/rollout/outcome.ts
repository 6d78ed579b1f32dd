import { SkillgateError } from '../errors.js'
import type { RolloutOutcome } from './agent.js'

/**
 * What an agent function returned, as an outcome: a finite reward, and details as they will be read from a file.
 * Errors: ERR_REWARD (anything but a finite number), ERR_DETAILS (not an object that JSON can hold).
 */
export function checkOutcome(value: unknown, task: string): RolloutOutcome {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const { reward, details } = (isObject ? value : { reward: value }) as {
    reward?: unknown
    details?: unknown
  }
  if (typeof reward !== 'number' || !Number.isFinite(reward)) {
    throw new SkillgateError(
      'ERR_REWARD',
      `expected a finite number as the reward of task '${task}', got ${describe(reward)}`,
    )
  }
  return details === undefined ? { reward } : { reward, details: plain(details, task) }
}

function plain(details: unknown, task: string): Record<string, unknown> {
  const refuse = (got: string, cause?: unknown) =>
    new SkillgateError('ERR_DETAILS', `expected a JSON object as the details of task '${task}', got ${got}`, {
      cause,
    })
  let text: string | undefined
  try {
    text = JSON.stringify(details)
  } catch (cause) {
    throw refuse(cause instanceof Error ? cause.message : String(cause), cause)
  }
  if (!text?.startsWith('{')) throw refuse(describe(details))
  return JSON.parse(text)
}

function describe(value: unknown): string {
  if (typeof value === 'number' || value === undefined || value === null) return String(value)
  const text = typeof value === 'string' ? JSON.stringify(value) : Object.prototype.toString.call(value)
  return `${text.length > 80 ? `${text.slice(0, 80)}...` : text} (${typeof value})`
}
