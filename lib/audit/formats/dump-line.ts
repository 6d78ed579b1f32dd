import { z } from 'zod'
import { issueTexts } from '../options.js'
import { taskKey } from '../slates.js'
import { countTurns, responseTurns } from '../turn-reads.js'
import { type LineFormat, needsTokenizer } from './line-format.js'

const count = z.int().min(0)
/** Of a line of the released trainer's dump, what the audit uses. */
const dumpLine = z.object({
  step: count.optional(),
  group_index: count,
  reward: z.object({
    raw_score: z.number().nullable(),
    bench: z.string().default(''),
    task_id: z.string(),
  }),
  /** Text after the first prompt: turns, and what came between them, with markers. */
  response: z.string(),
  response_length: count.optional(),
})

/** A line of the released trainer's dump. */
export const readDumpLine: LineFormat = (value, { options, slates, fileStep }) => {
  const parsed = dumpLine.safeParse(value)
  if (!parsed.success) return issueTexts(parsed.error).join('; ')
  const { tokenizer } = options
  if (!tokenizer) return needsTokenizer('count the tokens of the response text')
  const { step = fileStep, group_index, reward, response, response_length } = parsed.data
  const task = taskKey(reward.bench, reward.task_id)
  const slate = slates?.get(task) ?? []
  const turns = responseTurns(response, options).map((turn) => tokenizer.encode(turn))
  return {
    ...{ step, group: String(group_index), task, reward: reward.raw_score, dropped: false },
    response: response_length || null,
    labelled: slate.some((entry) => entry.category === 'oracle'),
    ...countTurns(turns, slate, tokenizer, options),
  }
}
