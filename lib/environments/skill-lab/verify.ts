import type { RolloutOutcome } from '../../rollout/agent.js'

/** Spaces more or less do not make another command. */
function tidy(command: string): string {
  return command.trim().replace(/\s+/g, ' ')
}

/**
 * Reward 1 where the executed commands are the expected ones, all of them, in order, and nothing else; otherwise 0.
 * `firstError` is the place of the first command that is wrong, missing or too many, null where there is none.
 */
export function verify(executed: readonly string[], expected: readonly string[]): RolloutOutcome {
  const length = Math.max(executed.length, expected.length)
  let firstError: number | null = null
  for (let i = 0; i < length && firstError === null; i++) {
    const given = executed[i]
    if (given === undefined || expected[i] === undefined || tidy(given) !== tidy(expected[i]!)) firstError = i
  }
  const reward = firstError === null ? 1 : 0
  return { reward, details: { executed: [...executed], expected: [...expected], firstError } }
}
