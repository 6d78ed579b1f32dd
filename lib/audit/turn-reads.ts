import { findSkillReads } from '../credit/reads.js'
import type { SlateEntry } from '../rollout/trajectory.js'
import type { ReadCategory } from '../skills/skill.js'
import { coveredTokens } from './covered-tokens.js'
import type { AuditOptions, TokenCounter } from './options.js'
import { turnCalls } from './turn-calls.js'

/** Token counts of a trajectory, and the categories of its reads. */
export interface TokenCounts {
  generated: number
  call: number
  identity: number
  reads: ReadCategory[]
}

/** Counts the tokens of turns, and of the skill reads in them. */
export function countTurns(
  turns: Iterable<Int32Array>,
  slate: readonly SlateEntry[],
  tokenizer: TokenCounter,
  { readTools, execTools }: Pick<AuditOptions, 'readTools' | 'execTools'>,
): TokenCounts {
  const counts: TokenCounts = { generated: 0, call: 0, identity: 0, reads: [] }
  for (const tokens of turns) {
    const tokenBytes = Array.from(tokens, (id) => tokenizer.bytesOf(id))
    const calls = turnCalls(Buffer.concat(tokenBytes))
    const reads = findSkillReads({ tokens, tokenBytes }, { calls, slate, readTools, execTools })
    counts.generated += tokens.length
    counts.call += coveredTokens(reads.map((read) => read.call))
    counts.identity += coveredTokens(reads.map((read) => read.identity))
    counts.reads.push(...reads.map((read) => read.category))
  }
  return counts
}

/** Places of a name in a slate that lists names only. */
export const locationOf = (name: string) => `/skills/${name}/SKILL.md`

/**
 * The assistant turns of a response text: the first begins with the text itself, unless a marker does; each later one after
 * `turnStart`. All end at `turnEnd` or with the text, and hold neither marker.
 */
export function responseTurns(
  text: string,
  { turnStart, turnEnd }: Pick<AuditOptions, 'turnStart' | 'turnEnd'>,
): string[] {
  const start = turnStart.replace(/\n$/, '')
  const turns: string[] = []
  let from: number | undefined = text.startsWith(start) ? undefined : 0
  let place = 0
  for (;;) {
    if (from === undefined) {
      const marker = text.indexOf(start, place)
      if (marker < 0) return turns
      from = marker + start.length
      if (turnStart.endsWith('\n') && text[from] === '\n') from += 1
    }
    const end = text.indexOf(turnEnd, from)
    const turn = text.slice(from, end < 0 ? undefined : end)
    if (turn !== '') turns.push(turn)
    if (end < 0) return turns
    place = end + turnEnd.length
    from = undefined
  }
}
