import { open } from 'node:fs/promises'
import { z } from 'zod'
import { SkillgateError } from '../errors.js'
import { readLines } from '../tasks/lines.js'
import type { ToolDefinition } from './agent.js'
import { Conversation, type ConversationOptions } from './conversation.js'
import type { Message, TrajectorySequence } from './trajectory.js'

/** A conversation to imitate: the text of every assistant message is trained, tool calls included. */
export interface Demonstration {
  id?: string
  messages: readonly Message[]
  tools?: readonly ToolDefinition[]
  /** Demonstrations of one task are kept together, so that what they begin with is computed once. */
  taskId?: string
}

const schema = z
  .looseObject({
    id: z.string().optional(),
    taskId: z.string().optional(),
    messages: z.array(
      z.strictObject({
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        content: z.string(),
        name: z.string().optional(),
      }),
    ),
    tools: z
      .array(
        z.looseObject({
          name: z.string().min(1),
          description: z.string(),
          parameters: z.record(z.string(), z.unknown()),
        }),
      )
      .optional(),
  })
  .refine(({ messages }) => messages.some(({ role }) => role === 'assistant'), {
    path: ['messages'],
    message: 'expected at least one message of role assistant, got none',
  })

/** How many problems one error lists; the rest are counted. */
const LISTED = 50

/**
 * Demonstrations from a JSONL file (blank lines are skipped) or from memory, checked.
 * @throws ERR_DEMONSTRATIONS naming every bad line or place
 */
export async function loadDemonstrations(source: string | readonly unknown[]): Promise<Demonstration[]> {
  const demonstrations: Demonstration[] = []
  const problems: string[] = []
  const take = (where: string, value: unknown) => {
    const parsed = schema.safeParse(value)
    if (parsed.success) demonstrations.push(parsed.data)
    else
      problems.push(
        ...parsed.error.issues.map((issue) => `${where}: ${issue.path.join('.')}: ${issue.message}`),
      )
  }
  if (typeof source === 'string') await readFileInto(source, take, problems)
  else for (const [i, value] of source.entries()) take(`[${i}]`, value)
  const name = typeof source === 'string' ? source : 'demonstrations'
  if (problems.length > 0) {
    const listed = problems.slice(0, LISTED)
    if (problems.length > LISTED) listed.push(`and ${problems.length - LISTED} more`)
    throw new SkillgateError('ERR_DEMONSTRATIONS', `${name}: bad demonstrations\n  ${listed.join('\n  ')}`)
  }
  if (demonstrations.length === 0) {
    throw new SkillgateError('ERR_DEMONSTRATIONS', `${name}: expected at least one demonstration, got none`)
  }
  return demonstrations
}

async function readFileInto(
  path: string,
  take: (where: string, value: unknown) => void,
  problems: string[],
): Promise<void> {
  try {
    const file = await open(path, 'r')
    try {
      for await (const line of readLines(file)) {
        const where = `line ${line.number}`
        if (line.problem !== undefined) problems.push(`${where}: ${line.problem}`)
        else if (line.text.trim() !== '') takeLine(where, line.text, take, problems)
      }
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new SkillgateError(
      'ERR_DEMONSTRATIONS',
      `cannot read demonstrations from ${path}: ${(cause as Error).message}`,
      { cause },
    )
  }
}

function takeLine(
  where: string,
  text: string,
  take: (where: string, value: unknown) => void,
  problems: string[],
): void {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    problems.push(`${where}: expected one JSON object a line (JSONL): ${(cause as Error).message}`)
    return
  }
  take(where, value)
}

/** The token sequences of a demonstration: `generated` is 1 on the assistant's tokens, end of turn included, logprobs are 0. */
export function demonstrationSequences(
  demonstration: Demonstration,
  options: ConversationOptions,
): TrajectorySequence[] {
  const conversation = new Conversation({ ...options, tools: demonstration.tools })
  for (const message of demonstration.messages) {
    if (message.role === 'assistant') conversation.appendAssistant(message.content)
    else conversation.add(message)
  }
  return conversation.sequences()
}
