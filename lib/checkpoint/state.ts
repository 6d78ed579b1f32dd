import { z } from 'zod'
import { SkillgateError } from '../errors.js'

const schema = z.object({
  format: z.literal(1),
  recipe: z.enum(['train', 'sft', 'selection-bc', 'selection-dpo']),
  /** Steps completed. */
  step: z.int().min(0),
  /** Optimizer steps taken: fewer than `step` where steps were skipped. */
  policyVersion: z.int().min(0),
  seed: z.int().min(0),
  /** When the run began, in milliseconds since 1970: what the clock of a chat template says in all of it. */
  startedAt: z.int().min(0),
  /** The step after which the last evaluation was made. */
  evaluated: z.int().min(0).optional(),
  /** Where the drawing of data stands. */
  data: z.object({ epoch: z.int().min(0), index: z.int().min(0) }),
  /** Sums over the run, e.g. steps skipped. */
  counters: z.record(z.string(), z.number()),
  best: z.object({ step: z.int().min(0), metric: z.string(), value: z.number() }).optional(),
  /** What the credit method has gathered: rows of a name and figures. */
  memory: z
    .array(z.tuple([z.string()], z.number()).readonly())
    .readonly()
    .optional(),
  /** Fingerprints of what the run reads: model, tasks, skills. */
  inputs: z.record(z.string(), z.string()),
})

/** All that a run is a function of, beside weights, optimizer moments and config. */
export type RunState = z.output<typeof schema>

/** @throws ERR_CHECKPOINT where the text is not a state of this format */
export function parseState(file: string, text: string): RunState {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new SkillgateError('ERR_CHECKPOINT', `${file}: expected JSON, got: ${(cause as Error).message}`, {
      cause,
    })
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`)
  throw new SkillgateError('ERR_CHECKPOINT', `${file}: expected the state of a run; ${issues.join('; ')}`)
}
