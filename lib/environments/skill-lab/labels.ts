import { SeededRandom } from './seeded-random.js'
import type { LabTask } from './tasks.js'

const WRONG_STREAM = 21
const MISSING_STREAM = 22

/**
 * The tasks, a share of them with the name of another candidate of their slate as label; the skill that is right takes that candidate's
 * category. What the agent is shown and what it is rewarded for stay the same. A larger share holds the tasks of a smaller one.
 */
export function withWrongLabels(tasks: readonly LabTask[], share: number, seed: number): LabTask[] {
  const random = new SeededRandom(seed, WRONG_STREAM)
  const wrong = places(tasks.length, share, random)
  const choices = new SeededRandom(seed, WRONG_STREAM + 100)
  return tasks.map((task, i) => {
    const label = choices.pick(Object.values(task.slate).flat())
    return wrong.has(i) ? relabelled(task, label) : task
  })
}

function relabelled(task: LabTask, label: string): LabTask {
  const right = task.data.skill
  const swapped = (names: readonly string[]) => names.map((name) => (name === label ? right : name))
  const { relevant, irrelevant, misleading } = task.slate
  return {
    ...task,
    oracle: [label],
    slate: { relevant: swapped(relevant), irrelevant: swapped(irrelevant), misleading: swapped(misleading) },
  }
}

/** The tasks, a share of them without a label: they show the same candidates, none of which has a category. */
export function withoutLabels(tasks: readonly LabTask[], share: number, seed: number): LabTask[] {
  const missing = places(tasks.length, share, new SeededRandom(seed, MISSING_STREAM))
  return tasks.map((task, i) => {
    if (!missing.has(i)) return task
    const { oracle, slate, ...rest } = task
    return { ...rest, slate: { ...slate, relevant: [...slate.relevant, ...(oracle ?? [])] } }
  })
}

/** A share of `count` places, rounded; the first of one random order. */
function places(count: number, share: number, random: SeededRandom): Set<number> {
  const order = random.shuffled(Array.from({ length: count }, (_, i) => i))
  return new Set(order.slice(0, Math.round(share * count)))
}
