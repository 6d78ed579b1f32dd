import { z } from 'zod'
import { SkillgateError } from '../errors.js'
import type { SlateEntry } from '../rollout/trajectory.js'
import type { SkillCategory } from '../skills/skill.js'
import { LineProblems } from './line-problems.js'
import { jsonLines } from './lines.js'
import { issueTexts } from './options.js'
import { locationOf } from './turn-reads.js'

const names = z.array(z.union([z.string(), z.object({ name: z.string() })])).default([])
const slateLine = z.object({
  bench: z.string().default(''),
  task_id: z.string(),
  oracle: names,
  relevant: names,
  irrelevant: names,
  misleading: names,
})
const categories = ['oracle', 'relevant', 'irrelevant', 'misleading'] as const satisfies SkillCategory[]

/** Short names of benches in trajectories whose slates have the long one. */
const longNames: Record<string, string> = { seta: 'seta_synth', swe: 'swe_lite' }

/** Tells a task among those of all benches. */
export function taskKey(bench: string, task: string): string {
  const long = longNames[bench] ?? bench
  return long === '' ? task : `${long}/${task}`
}

/** The candidates of each task, by `taskKey`. */
export type Slates = ReadonlyMap<string, readonly SlateEntry[]>

/** Reads a file of slates. @throws ERR_AUDIT, with each bad line */
export async function readSlates(path: string): Promise<Slates> {
  const slates = new Map<string, SlateEntry[]>()
  const problems = new LineProblems()
  try {
    for await (const { number, value, problem } of jsonLines(path)) {
      const parsed = slateLine.safeParse(value)
      const wrong = problem ?? (parsed.success ? undefined : issueTexts(parsed.error).join('; '))
      if (wrong !== undefined) problems.add(path, number, wrong)
      else if (parsed.success)
        slates.set(taskKey(parsed.data.bench, parsed.data.task_id), entries(parsed.data))
    }
  } catch (cause) {
    const message = `cannot read slates from ${path}: ${(cause as Error).message}`
    throw new SkillgateError('ERR_AUDIT', message, { cause })
  }
  problems.throwIfAny()
  return slates
}

function entries(line: z.output<typeof slateLine>): SlateEntry[] {
  return categories.flatMap((category) =>
    line[category].map((entry) => {
      const name = typeof entry === 'string' ? entry : entry.name
      return { name, location: locationOf(name), category }
    }),
  )
}
