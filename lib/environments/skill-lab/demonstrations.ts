import type { Demonstration } from '../../rollout/demonstration.js'
import type { Message } from '../../rollout/trajectory.js'
import { availableSkills } from '../../skills/available-skills.js'
import { buildSlate } from '../../skills/slate.js'
import { systemPrompt } from './agent.js'
import { callText } from './call-text.js'
import type { LabLibrary } from './library.js'
import { SeededRandom } from './seeded-random.js'
import type { LabTask } from './tasks.js'
import { type Plan, planOf, type TeacherHabits, teacherHabits } from './teacher.js'
import { labTools, Workbench } from './workbench.js'

/** A demonstration always tells its task. */
export type LabDemonstration = Demonstration & { taskId: string }

export interface DemonstrationOptions {
  count: number
  seed: number
  /** Demonstrations of one task, one after the other: they share its prompt. Default 4. */
  perTask?: number
  habits?: TeacherHabits
}

const STREAM = 11

/** What the teacher does for the tasks, in their order, from the first again where there are too few. */
export function demonstrate(
  library: LabLibrary,
  tasks: readonly LabTask[],
  options: DemonstrationOptions,
): LabDemonstration[] {
  const { count, seed, perTask = 4, habits = teacherHabits } = options
  const random = new SeededRandom(seed, STREAM)
  return Array.from({ length: count }, (_, i) => {
    const task = tasks[Math.floor(i / perTask) % tasks.length]!
    return demonstration(library, task, planOf(task, library.procedures, habits, random), seed)
  })
}

/** The demonstration of one plan: one call a turn, the workbench's answers, a last word. The slate follows from `seed`. */
export function demonstration(
  library: LabLibrary,
  task: LabTask,
  plan: Plan,
  seed: number,
): LabDemonstration {
  const { skills, commandNames } = library
  const slate = buildSlate(skills, task, { seed })
  const bench = new Workbench((path) => skills.byPath(path)?.content, commandNames)
  const messages: Message[] = [
    { role: 'system', content: systemPrompt(availableSkills(slate)) },
    { role: 'user', content: task.prompt },
  ]
  const call = (name: string, argument: Record<string, string>) => {
    messages.push({ role: 'assistant', content: callText(name, argument) })
    messages.push({ role: 'tool', name, content: bench.answer({ name, arguments: argument })! })
  }
  for (const name of plan.reads) call('read', { path: skills.byName(name)!.location })
  for (const command of plan.commands) call('run', { command })
  messages.push({ role: 'assistant', content: 'Done.' })
  return { taskId: task.id, messages, tools: labTools }
}
