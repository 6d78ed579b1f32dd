import { open } from 'node:fs/promises'
import { z } from 'zod'
import { SkillgateError } from '../errors.js'
import { readLines } from './lines.js'
import type { Task } from './task.js'

const names = z.array(z.string().min(1, 'expected a skill name, got an empty string'))

const taskSchema = z
  .looseObject({
    id: z.string().min(1, 'expected a non-empty string'),
    prompt: z.string().min(1, 'expected a non-empty string'),
    oracle: names.optional(),
    slate: z
      .strictObject({
        relevant: names.optional(),
        irrelevant: names.optional(),
        misleading: names.optional(),
      })
      .optional(),
    misleading: names.optional(),
    data: z.record(z.string(), z.unknown()).optional(),
  })
  .superRefine((task, context) => {
    const oracle = new Set(task.oracle)
    const others = { 'slate.relevant': task.slate?.relevant, 'slate.irrelevant': task.slate?.irrelevant }
    const misleading = { 'slate.misleading': task.slate?.misleading, misleading: task.misleading }
    for (const [field, listed] of Object.entries({ ...others, ...misleading }))
      for (const name of listed ?? [])
        if (oracle.has(name))
          context.addIssue({ code: 'custom', path: field.split('.'), message: `'${name}' is also an oracle` })
  })

/** How many problems one error lists; the rest are counted. */
const LISTED = 50

/**
 * Tasks from a JSONL file (one task a line, UTF-8, blank lines skipped) or from memory, checked. All problems are
 * reported at once in one `ERR_TASKS`, each with its line (file) or its place (array). Unknown fields are kept.
 */
export async function loadTasks(source: string | readonly Task[]): Promise<Task[]> {
  if (typeof source !== 'string' && !Array.isArray(source)) {
    throw new SkillgateError('ERR_TASKS', `expected tasks as the path or an array, got ${typeof source}`)
  }
  if (typeof source !== 'string')
    return checkTasks(
      'tasks',
      source.map((value, i) => ({ where: `[${i}]`, value })),
    )
  const rows: Row[] = []
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await open(source, 'r')
  } catch (cause) {
    throw new SkillgateError('ERR_TASKS', `expected a JSONL file of tasks at ${source}: ${reason(cause)}`, {
      cause,
    })
  }
  try {
    for await (const line of readLines(file)) {
      const where = `line ${line.number}`
      if (line.problem !== undefined) rows.push({ where, problem: line.problem })
      else if (line.text.trim() !== '') rows.push(parseRow(where, line.text))
    }
  } catch (cause) {
    throw new SkillgateError('ERR_TASKS', `cannot read tasks from ${source}: ${reason(cause)}`, { cause })
  } finally {
    await file.close()
  }
  return checkTasks(source, rows)
}

interface Row {
  where: string
  value?: unknown
  problem?: string
}

function parseRow(where: string, text: string): Row {
  try {
    return { where, value: JSON.parse(text) }
  } catch (cause) {
    return { where, problem: `expected one JSON object a line (JSONL): ${reason(cause)}` }
  }
}

function checkTasks(source: string, rows: readonly Row[]): Task[] {
  const tasks: Task[] = []
  const problems: string[] = []
  const seen = new Map<string, string>()
  for (const { where, value, problem } of rows) {
    if (problem !== undefined) {
      problems.push(`${where}: ${problem}`)
      continue
    }
    const parsed = taskSchema.safeParse(value)
    if (!parsed.success) {
      const issues = parsed.error.issues.map(({ path, message }) =>
        path.length > 0 ? `${path.join('.')}: ${message}` : message,
      )
      problems.push(`${where}: ${issues.join('; ')}`)
      continue
    }
    const task = parsed.data as Task
    const first = seen.get(task.id)
    if (first !== undefined) problems.push(`${where}: id: '${task.id}' is already the id of ${first}`)
    else seen.set(task.id, where)
    tasks.push(task)
  }
  if (problems.length > 0) {
    const listed = problems.slice(0, LISTED)
    if (problems.length > LISTED) listed.push(`and ${problems.length - LISTED} more`)
    throw new SkillgateError(
      'ERR_TASKS',
      `${source}: ${problems.length} of ${rows.length} tasks are bad\n  ${listed.join('\n  ')}`,
    )
  }
  if (tasks.length === 0)
    throw new SkillgateError('ERR_TASKS', `${source}: expected at least one task, got none`)
  return tasks
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
