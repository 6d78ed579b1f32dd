import { createHash } from 'node:crypto'
import { SkillgateError } from '../errors.js'
import type { SkillLibrary } from './library.js'
import { nearestSkillName } from './nearest-skill.js'
import type { Candidate, Skill, SkillCategory, Slate } from './skill.js'

export interface SlateOptions {
  /** Candidates in a built slate, where the library has enough. Default: one more than the three numbers together. */
  size?: number
  /** Default 5. */
  relevant?: number
  /** Default 5. */
  irrelevant?: number
  /** Default 5. */
  misleading?: number
  /** The same seed, task and library give the same slate. Default 0. */
  seed?: number
}

/** What a slate is built from; any task is one. */
export interface SlateTask {
  id: string
  prompt: string
  oracle?: readonly string[]
  slate?: Partial<Record<Exclude<SkillCategory, 'oracle'>, readonly string[]>>
  misleading?: readonly string[]
}

type Names = Partial<Record<SkillCategory, readonly string[]>>

/**
 * The candidates of a task, shuffled by seed and task id. A task with a `slate` gets it as it stands, with its oracle. Else: the oracle,
 * the task's misleading skills, the best BM25 matches of its prompt as relevant, and skills from the far half of that ranking as
 * irrelevant, which also fill places that the others leave. A small library gives a small slate. `ERR_SLATE` names a
 * task that names an unknown skill, or one skill in two categories.
 */
export function buildSlate(library: SkillLibrary, task: SlateTask, options: SlateOptions = {}): Slate {
  const counts = checkedCounts(options)
  const seed = options.seed ?? 0
  const labelled = (task.oracle?.length ?? 0) > 0
  const given: Names = task.slate
    ? { oracle: task.oracle, ...task.slate }
    : { oracle: task.oracle, misleading: task.misleading }
  const named = namedSkills(library, task, given)
  const chosen = task.slate ? named : complete(library, task, named, counts, seed)
  const candidates = Array.from(
    chosen,
    ([skill, category]): Candidate => (labelled ? { skill, category } : { skill }),
  )
  const order = ordering(seed, task.id, 'order')
  return { candidates: candidates.sort((a, b) => order(a.skill, b.skill)), labelled }
}

function checkedCounts(options: SlateOptions): Required<Omit<SlateOptions, 'seed'>> {
  const { relevant = 5, irrelevant = 5, misleading = 5 } = options
  const size = options.size ?? 1 + relevant + irrelevant + misleading
  for (const [name, value] of Object.entries({ relevant, irrelevant, misleading, size })) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new SkillgateError(
        'ERR_SLATE',
        `expected ${name} of a slate to be a whole number of 0 or more, got ${value}`,
      )
    }
  }
  if (size < 1 + relevant + irrelevant + misleading) {
    const sum = `1 oracle + ${relevant} relevant + ${irrelevant} irrelevant + ${misleading} misleading`
    throw new SkillgateError('ERR_SLATE', `expected a slate size of at least ${sum}, got ${size}`)
  }
  return { size, relevant, irrelevant, misleading }
}

/** The skills a task names, each with its category. */
function namedSkills(library: SkillLibrary, task: SlateTask, names: Names): Map<Skill, SkillCategory> {
  const categories = new Map<Skill, SkillCategory>()
  for (const category of ['oracle', 'relevant', 'irrelevant', 'misleading'] as const) {
    for (const name of names[category] ?? []) {
      const skill = library.byName(name)
      if (skill === undefined) {
        const near = nearestSkillName(
          name,
          library.skills.map((known) => known.name),
        )
        const hint = near === undefined ? '' : `; did you mean "${near}"?`
        throw new SkillgateError('ERR_SLATE', `task "${task.id}": unknown ${category} skill "${name}"${hint}`)
      }
      const other = categories.get(skill)
      if (other !== undefined && other !== category) {
        throw new SkillgateError(
          'ERR_SLATE',
          `task "${task.id}": skill "${name}" is both ${other} and ${category}`,
        )
      }
      categories.set(skill, category)
    }
  }
  return categories
}

function complete(
  library: SkillLibrary,
  task: SlateTask,
  named: ReadonlyMap<Skill, SkillCategory>,
  counts: Required<Omit<SlateOptions, 'seed'>>,
  seed: number,
): Map<Skill, SkillCategory> {
  const pick = ordering(seed, task.id, 'pick')
  const chosen = new Map<Skill, SkillCategory>()
  const take = (skills: readonly Skill[], category: SkillCategory, most: number) => {
    for (const skill of skills.slice(0, Math.max(0, Math.min(most, counts.size - chosen.size)))) {
      chosen.set(skill, category)
    }
  }
  const of = (category: SkillCategory) =>
    [...named].filter(([, own]) => own === category).map(([skill]) => skill)
  take(of('oracle'), 'oracle', counts.size)
  take(of('misleading').sort(pick), 'misleading', counts.misleading)

  const ranked = library.rank(task.prompt).filter(({ skill }) => !named.has(skill))
  const matching = ranked.filter(({ score }) => score > 0).slice(0, counts.relevant)
  take(
    matching.map(({ skill }) => skill),
    'relevant',
    counts.relevant,
  )
  const rest = ranked.slice(matching.length).reverse()
  const wanted = Math.max(0, counts.size - chosen.size)
  const unrelated = rest.filter(({ score }) => score === 0)
  const far = rest.slice(0, Math.max(wanted, unrelated.length, Math.floor(rest.length / 2)))
  take(far.map(({ skill }) => skill).sort(pick), 'irrelevant', wanted)
  return chosen
}

/** A random order of skills that depends on nothing but its arguments. */
function ordering(seed: number, task: string, use: string): (a: Skill, b: Skill) => number {
  const keys = new Map<string, string>()
  const key = ({ name }: Skill) => {
    const known =
      keys.get(name) ??
      createHash('sha256')
        .update(JSON.stringify([seed, task, use, name]))
        .digest('hex')
    keys.set(name, known)
    return known
  }
  return (a, b) => (key(a) < key(b) ? -1 : 1)
}
