import { z } from 'zod'
import type { Trajectory, TrajectorySequence } from './trajectory.js'

const count = z.int().min(0)
const range = z.strictObject({ start: count, end: count }).refine((r) => r.start <= r.end, 'start after end')
const pairs = z.array(z.tuple([count, count]))
const category = z.enum(['oracle', 'relevant', 'irrelevant', 'misleading'])
/** Kept key by key as it is: a model may name a key `__proto__`, which a record of zod leaves out. */
const json = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'expected an object',
)

const sequenceRecord = z
  .strictObject({
    tokens: z.array(
      z
        .int()
        .min(0)
        .max(2 ** 31 - 1),
    ),
    /** Half-open runs of generated tokens, in order. */
    generated: pairs,
    /** Of the generated tokens, in order: float32, little-endian, base64. */
    logprobs: z.base64(),
    turns: pairs,
  })
  .superRefine((sequence, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    for (const field of ['generated', 'turns'] as const) {
      let before = 0
      for (const [start, end] of sequence[field]) {
        if (start < before || end < start || end > sequence.tokens.length)
          refuse(
            field,
            `expected runs in order within ${sequence.tokens.length} tokens, got [${start}, ${end}]`,
          )
        before = end
      }
    }
    const sampled = sequence.generated.reduce((sum, [start, end]) => sum + end - start, 0)
    const bytes = Buffer.from(sequence.logprobs, 'base64').length
    if (bytes !== 4 * sampled)
      refuse('logprobs', `expected ${4 * sampled} bytes for ${sampled} generated tokens, got ${bytes}`)
  })

/** One line of a trajectory file. */
export const trajectoryRecord = z
  .strictObject({
    format: z.literal(1),
    step: count,
    /** Why the group was not trained on; absent: it was. */
    dropped: z.enum(['equal-rewards', 'too-few-rewards']).optional(),
    task: z.string(),
    group: count,
    index: count,
    seed: count,
    policyVersion: count,
    labelled: z.boolean(),
    reward: z.number().nullable(),
    failure: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    truncated: z.boolean(),
    turns: count,
    slate: z.array(z.strictObject({ name: z.string(), location: z.string(), category: category.optional() })),
    messages: z.array(
      z.strictObject({
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        content: z.string(),
        name: z.string().optional(),
      }),
    ),
    calls: z.array(
      z.strictObject({
        id: z.string(),
        tool: z.string(),
        arguments: json,
        sequence: count,
        turn: count,
        bytes: range,
      }),
    ),
    reads: z.array(
      z.strictObject({
        skill: z.string(),
        category: z.enum([...category.options, 'unadvertised']),
        tool: z.string(),
        sequence: count,
        turn: count,
        call: range,
        identity: range,
      }),
    ),
    details: json.optional(),
    sequences: z.array(sequenceRecord),
  })
  .superRefine((record, context) => {
    for (const field of ['calls', 'reads'] as const) {
      for (const [i, entry] of record[field].entries()) {
        const sequence = record.sequences[entry.sequence]
        const refuse = (message: string) => context.addIssue({ code: 'custom', path: [field, i], message })
        if (!sequence) refuse(`expected one of ${record.sequences.length} sequences, got ${entry.sequence}`)
        else if ('call' in entry && Math.max(entry.call.end, entry.identity.end) > sequence.tokens.length)
          refuse(`expected ranges within the sequence's ${sequence.tokens.length} tokens`)
      }
    }
  })

export type TrajectoryRecord = z.output<typeof trajectoryRecord>

export function toRecord(
  trajectory: Trajectory,
  group: Pick<TrajectoryRecord, 'step' | 'dropped'>,
): TrajectoryRecord {
  return { format: 1, ...group, ...trajectory, sequences: trajectory.sequences.map(packSequence) }
}

export function fromRecord(record: TrajectoryRecord): Trajectory {
  const { format: _, step: __, dropped: ___, ...trajectory } = record
  return { ...trajectory, sequences: record.sequences.map(unpackSequence) }
}

function packSequence({
  tokens,
  generated,
  logprobs,
  turns,
}: TrajectorySequence): TrajectoryRecord['sequences'][0] {
  const runs: [number, number][] = []
  for (let t = 0; t < generated.length; t++) {
    if (generated[t] !== 1) continue
    const last = runs.at(-1)
    if (last?.[1] === t) last[1] = t + 1
    else runs.push([t, t + 1])
  }
  const bytes = Buffer.alloc(4 * runs.reduce((sum, [start, end]) => sum + end - start, 0))
  let at = 0
  for (const [start, end] of runs) for (let t = start; t < end; t++) at = bytes.writeFloatLE(logprobs[t]!, at)
  return {
    tokens: Array.from(tokens),
    generated: runs,
    logprobs: bytes.toString('base64'),
    turns: turns.map(({ start, end }) => [start, end]),
  }
}

function unpackSequence(record: TrajectoryRecord['sequences'][0]): TrajectorySequence {
  const tokens = Int32Array.from(record.tokens)
  const generated = new Uint8Array(tokens.length)
  const logprobs = new Float32Array(tokens.length)
  const bytes = Buffer.from(record.logprobs, 'base64')
  let at = 0
  for (const [start, end] of record.generated) {
    generated.fill(1, start, end)
    for (let t = start; t < end; t++, at += 4) logprobs[t] = bytes.readFloatLE(at)
  }
  return { tokens, generated, logprobs, turns: record.turns.map(([start, end]) => ({ start, end })) }
}
