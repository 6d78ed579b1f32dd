import { z } from 'zod'
import { SkillgateError } from '../errors.js'

/** Counts tokens of text. A tokenizer of `policy/` is one. */
export interface TokenCounter {
  /** Ids of a text; special tokens inside it are recognised, none is added. */
  encode(text: string): Int32Array
  /** The exact bytes of an id. */
  bytesOf(id: number): Uint8Array
}

const isCounter = (value: unknown) => {
  const { encode, bytesOf } = (value ?? {}) as Partial<TokenCounter>
  return typeof encode === 'function' && typeof bytesOf === 'function'
}
const tools = (...names: string[]) => z.array(z.string().min(1)).default(names)

/** Options of `audit`; every one has a default or may be left out. */
export const auditOptions = z.strictObject({
  format: z
    .enum(['auto', 'trajectories', 'records', 'dump'])
    .default('auto')
    .describe(
      'what the lines are: of a run of this package, of the documented form, of the released trainer',
    ),
  bins: z
    .array(z.int().min(1))
    .min(1)
    .max(8)
    .refine((edges) => edges.every((edge, i) => i === 0 || edge > edges[i - 1]!), 'expected ascending edges')
    .default([3000, 6000, 10_000, 16_000])
    .describe(
      'upper ends of the length bins, in tokens the policy sampled; one more bin lies above the last',
    ),
  successAbove: z.number().default(0).describe('a trajectory with a higher reward counts as a success'),
  includeDropped: z
    .boolean()
    .default(false)
    .describe('also measure groups the trainer left out of its update'),
  slates: z
    .string()
    .min(1)
    .optional()
    .describe('JSONL file of each task\'s candidates by category; default: "slates.jsonl" beside a dump'),
  tokenizer: z
    .custom<TokenCounter>(isCounter, 'expected an object with encode(text) and bytesOf(id)')
    .optional()
    .describe('counts the tokens of lines that hold text, and finds the reads of lines that hold ids'),
  turnStart: z
    .string()
    .min(1)
    .default('<|im_start|>assistant\n')
    .describe('what begins an assistant turn in a response text; its last line break may be missing'),
  turnEnd: z.string().min(1).default('<|im_end|>').describe('what ends a turn in a response text'),
  readTools: tools('read').describe('tools whose argument is a path to read'),
  execTools: tools('exec').describe('tools that run a command'),
  resamples: z
    .int()
    .min(100)
    .max(1_000_000)
    .default(10_000)
    .describe('bootstrap samples of tasks behind each interval'),
  seed: z.int().min(0).max(0xffffffff).default(0).describe('the bootstrap samples follow from it'),
})

export type AuditOptionsIn = z.input<typeof auditOptions>
export type AuditOptions = z.output<typeof auditOptions>

/** @throws ERR_CONFIG naming every unknown option and every wrong value at once */
export function checkAuditOptions(given: unknown): AuditOptions {
  const checked = auditOptions.safeParse(given)
  if (checked.success) return checked.data
  const problems = issueTexts(checked.error)
  const head = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  throw new SkillgateError('ERR_CONFIG', `${head} in the options of audit:\n  ${problems.join('\n  ')}`)
}

/** Each issue as `place: what is wrong`. */
export function issueTexts(error: z.ZodError): string[] {
  return error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  )
}
