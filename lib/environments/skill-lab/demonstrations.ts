import type { Demonstration } from '../../rollout/demonstration.js'
import type { Message } from '../../rollout/trajectory.js'
import { availableSkills } from '../../skills/available-skills.js'
import type { Slate } from '../../skills/skill.js'
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
  /**
   * Candidates shown, task after task in turn; the oracle, its decoy and what is read are never left out. Default 4, 16: a small model
   * learns to copy sooner from short prompts.
   */
  slateSizes?: readonly number[]
  /**
   * Of seven tasks in a row, how many are shown up to the first read only. A whole episode has a hundred tokens and three of them name
   * a skill; these show the choice at a fifth of the cost. Default 0.
   */
  choicesOfSeven?: number
  habits?: TeacherHabits
  /** How often a task asks for its skill's steps. Default 1. */
  horizon?: number
}

const STREAM = 11

/** What the teacher does for the tasks, in their order, from the first again where there are too few. */
export function demonstrate(
  library: LabLibrary,
  tasks: readonly LabTask[],
  options: DemonstrationOptions,
): LabDemonstration[] {
  const {
    count,
    seed,
    perTask = 4,
    slateSizes = [4, 16],
    choicesOfSeven = 0,
    habits = teacherHabits,
    horizon = 1,
  } = options
  const random = new SeededRandom(seed, STREAM)
  const demonstrations: LabDemonstration[] = []
  for (let i = 0; demonstrations.length < count; i++) {
    const task = tasks[i % tasks.length]!
    const plans = Array.from({ length: Math.min(perTask, count - demonstrations.length) }, () =>
      planOf(task, library.procedures, habits, random, horizon),
    )
    const slate = shownIn(library, task, plans, slateSizes[i % slateSizes.length]!, seed)
    const choiceOnly = (i * choicesOfSeven) % 7 >= 7 - choicesOfSeven
    const shown = plans.map((plan) => demonstration(library, task, plan, slate))
    demonstrations.push(...(choiceOnly ? shown.map(upToFirstRead) : shown))
  }
  return demonstrations
}

function upToFirstRead(demonstration: LabDemonstration): LabDemonstration {
  return { ...demonstration, messages: demonstration.messages.slice(0, 3) }
}

/** The task's slate cut to `size` candidates: the oracle, its decoy, those that the plans read, and the first of the others. */
function shownIn(
  library: LabLibrary,
  task: LabTask,
  plans: readonly Plan[],
  size: number,
  seed: number,
): Slate {
  const { candidates, labelled } = buildSlate(library.skills, task, { seed })
  const kept = new Set([task.data.skill, task.data.decoy, ...plans.flatMap((plan) => plan.reads)])
  let free = size - kept.size
  return { candidates: candidates.filter(({ skill }) => kept.has(skill.name) || free-- > 0), labelled }
}

/** The demonstration of one plan: one call a turn, the workbench's answers, a last word. */
export function demonstration(
  library: LabLibrary,
  task: LabTask,
  plan: Plan,
  slate: Slate,
): LabDemonstration {
  const { skills, commandNames } = library
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
