import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { SkillgateError } from '../errors.js'
import { readLines } from '../tasks/lines.js'
import type { CollectResult, DropReason } from './collect.js'
import type { Group } from './trajectory.js'
import { fromRecord, toRecord, trajectoryRecord } from './trajectory-record.js'

/** A group as it stands in a file. */
export interface StoredGroup extends Group {
  step: number
  /** Why it was not trained on; absent: it was. */
  dropped?: DropReason
}

/** All groups of a step, dropped ones too, in the order of their draws. */
export function storedGroups(step: number, { kept, dropped }: CollectResult): StoredGroup[] {
  const groups = [
    ...kept.map((group) => ({ ...group, step })),
    ...dropped.map(({ group, reason }) => ({ ...group, step, dropped: reason })),
  ]
  return groups.sort((a, b) => a.index - b.index)
}

/**
 * Writes one trajectory a line (JSON), every group in turn. Written aside, synced and renamed: a reader finds the old
 * file or the new one, whole.
 */
export async function writeTrajectories(path: string, groups: readonly StoredGroup[]): Promise<void> {
  const folder = dirname(path)
  const aside = join(folder, `.${basename(path)}.new`)
  await mkdir(folder, { recursive: true })
  try {
    await withFile(aside, 'w', async (file) => {
      for (const { step, dropped, trajectories } of groups)
        for (const trajectory of trajectories)
          await file.appendFile(`${JSON.stringify(toRecord(trajectory, { step, dropped }))}\n`)
      await file.sync()
    })
    await rename(aside, path)
    await withFile(folder, 'r', (file) => file.sync())
  } catch (cause) {
    await rm(aside, { force: true })
    throw cause
  }
}

/** How many bad lines one error lists; the rest are counted. */
const LISTED = 50

/**
 * The groups of a trajectory file, in the order of their lines.
 * Errors: ERR_TRAJECTORIES, with the file, and each bad line with what is wrong in it.
 */
export async function readTrajectories(path: string): Promise<StoredGroup[]> {
  const groups = new Map<string, StoredGroup>()
  const problems: string[] = []
  try {
    await withFile(path, 'r', async (file) => {
      for await (const { number, text, problem } of readLines(file)) {
        const wrong = problem ?? addLine(groups, text)
        if (wrong !== undefined) problems.push(`line ${number}: ${wrong}`)
      }
    })
  } catch (cause) {
    throw new SkillgateError(
      'ERR_TRAJECTORIES',
      `cannot read trajectories from ${path}: ${messageOf(cause)}`,
      {
        cause,
      },
    )
  }
  if (problems.length > 0) {
    const listed = problems.slice(0, LISTED)
    if (problems.length > LISTED) listed.push(`and ${problems.length - LISTED} more`)
    throw new SkillgateError('ERR_TRAJECTORIES', `${path}: bad lines\n  ${listed.join('\n  ')}`)
  }
  return [...groups.values()]
}

/** Adds the trajectory of a line to its group; returns what is wrong with the line, or undefined. */
function addLine(groups: Map<string, StoredGroup>, text: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return `expected one JSON object a line: ${messageOf(cause)}`
  }
  const parsed = trajectoryRecord.safeParse(value)
  if (!parsed.success)
    return parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
  const { step, dropped } = parsed.data
  const trajectory = fromRecord(parsed.data)
  const key = `${step} ${trajectory.group}`
  const group = groups.get(key) ?? { task: trajectory.task, index: trajectory.group, trajectories: [], step }
  if (!groups.has(key)) groups.set(key, dropped === undefined ? group : { ...group, dropped })
  const known = groups.get(key)!
  if (known.task !== trajectory.task)
    return `task: expected '${known.task}' as in the other lines of group ${trajectory.group}, got '${trajectory.task}'`
  if (known.trajectories.some((t) => t.index === trajectory.index))
    return `index: ${trajectory.index} of group ${trajectory.group} is there already`
  known.trajectories.push(trajectory)
  return undefined
}

async function withFile(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags)
  try {
    await use(file)
  } finally {
    await file.close()
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
