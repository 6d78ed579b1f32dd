import { basename } from 'node:path'
import { SkillgateError } from '../errors.js'
import { type FormatName, formatOf, lineFormats } from './formats/detect.js'
import type { LineContext } from './formats/line-format.js'
import { LineProblems } from './line-problems.js'
import { type JsonLine, jsonLines } from './lines.js'
import type { Observation } from './observation.js'
import type { AuditOptions } from './options.js'
import { readSlates } from './slates.js'
import { sourceFiles } from './source-files.js'

export interface ReadSource {
  observations: Observation[]
  /** Formats met, in order. */
  formats: FormatName[]
  /** Lines of a dump whose task has no slate. */
  withoutSlate: number
}

/**
 * The observations of a file or folder.
 * @throws ERR_AUDIT with every bad line of all files, or where there is nothing to read
 */
export async function readSource(source: string, options: AuditOptions): Promise<ReadSource> {
  const { files, slates: found } = await sourceFiles(source)
  const slatesFile = options.slates ?? found
  const slates = slatesFile === undefined ? undefined : await readSlates(slatesFile)
  const observations: Observation[] = []
  const problems = new LineProblems()
  const tasks = new Map<string, string>()
  const formats = new Set<FormatName>()
  let withoutSlate = 0
  for (const [index, file] of files.entries()) {
    const number = /(\d+)\.jsonl$/.exec(basename(file))?.[1]
    const context: LineContext = { options, slates, fileStep: number === undefined ? index : Number(number) }
    let format = options.format === 'auto' ? undefined : options.format
    for await (const line of linesOf(file)) {
      if (line.problem === undefined) format ??= formatOf(line.value)
      const read = line.problem ?? readLine(format!, line.value, context)
      const wrong = typeof read === 'string' ? read : otherTask(read, tasks)
      if (wrong !== undefined) problems.add(file, line.number, wrong)
      if (typeof read === 'string') continue
      observations.push(read)
      formats.add(format!)
      if (format === 'dump' && !slates?.has(read.task)) withoutSlate += 1
    }
  }
  problems.throwIfAny()
  if (observations.length === 0) {
    throw new SkillgateError(
      'ERR_AUDIT',
      `expected trajectories in ${source}, got ${files.length} empty files`,
    )
  }
  return { observations, formats: [...formats], withoutSlate }
}

async function* linesOf(file: string): AsyncGenerator<JsonLine> {
  try {
    yield* jsonLines(file)
  } catch (cause) {
    throw new SkillgateError('ERR_AUDIT', `cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

function readLine(format: FormatName, value: unknown, context: LineContext): Observation | string {
  try {
    return lineFormats[format](value, context)
  } catch (cause) {
    if (cause instanceof SkillgateError) return cause.message
    throw cause
  }
}

/** What is wrong where a group has trajectories of two tasks: they cannot be compared with each other. */
function otherTask({ step, group, task }: Observation, tasks: Map<string, string>): string | undefined {
  const key = `${step} ${group}`
  const known = tasks.get(key)
  if (known === undefined) tasks.set(key, task)
  if (known === undefined || known === task) return undefined
  return `task: expected "${known}" as in the other lines of group ${group} of step ${step}, got "${task}"`
}
