import type { SeededRandom } from './seeded-random.js'
import type { LabTask } from './tasks.js'

/** Which skills a demonstration reads, in order, and which commands it runs. */
export interface Plan {
  reads: readonly string[]
  commands: readonly string[]
}

/** How often the teacher does what; the shares of first reads add up to 1. */
export interface TeacherHabits {
  oracle: number
  decoy: number
  misleading: number
  relevant: number
  /** Of the reads of the decoy: how many notice, read the oracle next and follow that. */
  secondLook: number
  /** Of all runs of a skill's steps: how many leave out a command or swap two. */
  slip: number
}

export const teacherHabits: TeacherHabits = {
  oracle: 0.5,
  decoy: 0.38,
  misleading: 0.06,
  relevant: 0.06,
  secondLook: 0.2,
  slip: 0.05,
}

/** What the teacher does for a task. It follows the skill it read last, right or wrong, `horizon` times over. */
export function planOf(
  task: LabTask,
  procedures: ReadonlyMap<string, readonly string[]>,
  habits: TeacherHabits,
  random: SeededRandom,
  horizon = 1,
): Plan {
  const reads = chooseReads(task, habits, random)
  const steps = procedures.get(reads.at(-1)!)!
  const runs = Array.from({ length: horizon }, () =>
    random.uniform() < habits.slip ? slip(steps, random) : steps,
  )
  return { reads, commands: runs.flat() }
}

function chooseReads(task: LabTask, habits: TeacherHabits, random: SeededRandom): string[] {
  const { skill, decoy } = task.data
  let share = random.uniform()
  share -= habits.oracle
  if (share < 0) return [skill]
  share -= habits.decoy
  if (share < 0) return random.uniform() < habits.secondLook ? [decoy, skill] : [decoy]
  share -= habits.misleading
  const others = task.slate.misleading.filter((name) => name !== decoy)
  if (share < 0) return [others.length === 0 ? decoy : random.pick(others)]
  return [random.pick(task.slate.relevant)]
}

function slip(commands: readonly string[], random: SeededRandom): string[] {
  const place = random.below(commands.length - 1)
  const [first, second] = commands.slice(place, place + 2)
  const instead = random.uniform() < 0.5 ? [second!] : [second!, first!]
  return [...commands.slice(0, place), ...instead, ...commands.slice(place + 2)]
}
