import { z } from 'zod'
import type { SlateEntry } from '../../rollout/trajectory.js'
import type { ReadCategory } from '../../skills/skill.js'
import { coveredTokens } from '../covered-tokens.js'
import { issueTexts } from '../options.js'
import { countTurns, locationOf, responseTurns, type TokenCounts } from '../turn-reads.js'
import { type LineContext, type LineFormat, needsTokenizer } from './line-format.js'

const count = z.int().min(0)
const range = z.tuple([count, count]).refine(([start, end]) => start <= end, 'start after end')
const skillCategory = z.enum(['oracle', 'relevant', 'irrelevant', 'misleading'])
const readEntry = z.object({
  skill: z.string().optional(),
  category: z.enum([...skillCategory.options, 'unadvertised']).optional(),
  /** Tokens: how many, or [start, end). */
  call: z.union([count, range]),
  identity: z.union([count, range]),
})

/** A line of the documented form, which any trainer can write. */
const recordLine = z.object({
  task: z.string(),
  group: z.union([count, z.string()]),
  step: count.optional(),
  reward: z.number().nullable(),
  /** Number of tokens the policy sampled. */
  generated: count.optional(),
  /** 1 = sampled by the policy; one entry a token. */
  mask: z.array(z.union([z.literal(0), z.literal(1)])).optional(),
  /** Ids of these tokens. */
  tokens: z.array(count).optional(),
  /** Texts of the assistant turns. */
  turns: z.array(z.string()).optional(),
  /** Text after the first prompt, with turn markers. */
  response: z.string().optional(),
  reads: z.array(readEntry).optional(),
  slate: z
    .array(
      z.object({ name: z.string(), location: z.string().optional(), category: skillCategory.optional() }),
    )
    .optional(),
  responseTokens: count.optional(),
  labelled: z.boolean().default(true),
})
type RecordLine = z.output<typeof recordLine>

export const readRecordLine: LineFormat = (value, context) => {
  const parsed = recordLine.safeParse(value)
  if (!parsed.success) return issueTexts(parsed.error).join('; ')
  const line = parsed.data
  const { tokens, mask } = line
  if (tokens && !mask) return 'mask: expected one entry a token, got nothing'
  if (tokens && mask && tokens.length !== mask.length)
    return `mask: expected ${tokens.length} entries, one a token, got ${mask.length}`
  const counts = line.reads ? givenCounts(line, line.reads) : foundCounts(line, context)
  if (typeof counts === 'string') return counts
  const { generated, call, identity } = counts
  if (!(identity <= call && call <= generated)) {
    const expected = 'expected identity tokens <= call tokens <= generated tokens'
    return `reads: ${expected}, got ${identity}, ${call} and ${generated}`
  }
  return {
    ...{ step: line.step ?? context.fileStep, group: String(line.group), task: line.task },
    ...{ reward: line.reward, labelled: line.labelled, dropped: false },
    response: line.responseTokens || null,
    ...counts,
  }
}

/** Counts of a line that says where its reads are. */
function givenCounts(line: RecordLine, reads: z.output<typeof readEntry>[]): TokenCounts | string {
  const { mask } = line
  const generated = line.generated ?? (mask && coveredTokens([{ start: 0, end: mask.length }], mask))
  if (generated === undefined) return 'generated: expected a number of tokens, or a mask, got nothing'
  const last = Math.max(0, ...reads.flatMap(({ call, identity }) => [call, identity].flat()))
  const hasRanges = reads.some(({ call, identity }) => Array.isArray(call) || Array.isArray(identity))
  if (mask && hasRanges && last > mask.length)
    return `reads: expected ranges within the ${mask.length} tokens of the mask, got an end of ${last}`
  const spans = (of: 'call' | 'identity') => {
    const ranges = reads.flatMap((read) => (typeof read[of] === 'number' ? [] : [read[of]]))
    const counted = reads.reduce((sum, read) => sum + (typeof read[of] === 'number' ? read[of] : 0), 0)
    return (
      counted +
      coveredTokens(
        ranges.map(([start, end]) => ({ start, end })),
        mask,
      )
    )
  }
  const known = new Map(line.slate?.map((entry) => [entry.name, entry.category]))
  const categoryOf = ({ skill, category }: z.output<typeof readEntry>): ReadCategory =>
    category ?? (skill === undefined ? undefined : known.get(skill)) ?? 'unadvertised'
  return { generated, call: spans('call'), identity: spans('identity'), reads: reads.map(categoryOf) }
}

/** Counts of a line whose reads are found in its ids, or in its text. */
function foundCounts(line: RecordLine, { options }: LineContext): TokenCounts | string {
  const { tokens, mask, turns, response } = line
  if (!tokens && !turns && response === undefined)
    return 'reads: expected a list of reads (empty for none), or tokens, turns or response to find them in, got nothing'
  const { tokenizer } = options
  if (!tokenizer) return needsTokenizer('find the reads of a line without them')
  const slate = (line.slate ?? []).map(
    ({ name, location = locationOf(name), category }): SlateEntry => ({ name, location, category }),
  )
  const ids =
    tokens && mask
      ? sampledRuns(tokens, mask)
      : (turns ?? responseTurns(response ?? '', options)).map((text) => tokenizer.encode(text))
  const counts = countTurns(ids, slate, tokenizer, options)
  return line.generated === undefined ? counts : { ...counts, generated: line.generated }
}

/** The ids of each run of 1 in the mask: the turns. */
function sampledRuns(tokens: readonly number[], mask: readonly number[]): Int32Array[] {
  const runs: Int32Array[] = []
  for (let start = mask.indexOf(1); start >= 0; ) {
    const end = mask.indexOf(0, start)
    runs.push(Int32Array.from(tokens.slice(start, end < 0 ? undefined : end)))
    start = end < 0 ? -1 : mask.indexOf(1, end)
  }
  return runs
}
