import { z } from 'zod'
import { coveredTokens } from '../covered-tokens.js'
import { issueTexts } from '../options.js'
import type { LineFormat } from './line-format.js'

const count = z.int().min(0)
const range = z.object({ start: count, end: count }).refine((r) => r.start <= r.end, 'start after end')
const category = z.enum(['oracle', 'relevant', 'irrelevant', 'misleading', 'unadvertised'])

/** Of a line of a trajectory file, what the audit uses. */
const trajectoryLine = z.object({
  format: z.literal(1),
  step: count,
  dropped: z.string().optional(),
  task: z.string(),
  group: count,
  labelled: z.boolean(),
  reward: z.number().nullable(),
  reads: z.array(z.object({ category, sequence: count, call: range, identity: range })),
  sequences: z.array(
    z
      .object({ tokens: z.array(z.unknown()), generated: z.array(z.tuple([count, count])) })
      .refine(
        ({ tokens, generated }) => generated.every(([start, end]) => start <= end && end <= tokens.length),
        'expected runs of generated tokens within the sequence',
      ),
  ),
})

/** A line of a trajectory file of this package. */
export const readTrajectoryLine: LineFormat = (value) => {
  const parsed = trajectoryLine.safeParse(value)
  if (!parsed.success) return issueTexts(parsed.error).join('; ')
  const { step, group, task, reward, labelled, dropped, reads, sequences } = parsed.data
  const masks = sequences.map(({ tokens, generated }) => {
    const mask = new Uint8Array(tokens.length)
    for (const [start, end] of generated) mask.fill(1, start, end)
    return mask
  })
  for (const [i, { sequence, call, identity }] of reads.entries()) {
    const length = masks[sequence]?.length
    if (length === undefined) return `reads.${i}: expected one of ${masks.length} sequences, got ${sequence}`
    const last = Math.max(call.end, identity.end)
    if (last > length) return `reads.${i}: expected ranges within ${length} tokens, got an end of ${last}`
  }
  const covered = (span: 'call' | 'identity') =>
    masks.reduce((sum, mask, i) => {
      const ranges = reads.filter((read) => read.sequence === i).map((read) => read[span])
      return sum + coveredTokens(ranges, mask)
    }, 0)
  const first = masks[0]?.indexOf(1) ?? -1
  return {
    ...{ step, group: String(group), task, reward, labelled, dropped: dropped !== undefined },
    generated: masks.reduce((sum, mask) => sum + coveredTokens([{ start: 0, end: mask.length }], mask), 0),
    response: masks.length === 1 && first >= 0 ? masks[0]!.length - first : null,
    call: covered('call'),
    identity: covered('identity'),
    reads: reads.map((read) => read.category),
  }
}
