import type { Task } from '../../tasks/task.js'
import { type Domain, type LabSkill, misleadingSkills } from './domain.js'
import { domains } from './domains/all.js'
import { SeededRandom } from './seeded-random.js'

/** A task of the environment; `data` holds what its verifier and its teacher know. */
export interface LabTask extends Task {
  /** Absent: nobody has labelled the task. */
  oracle?: readonly [string]
  slate: { relevant: readonly string[]; irrelevant: readonly string[]; misleading: readonly string[] }
  data: LabTaskData
}

/** A type and no interface, so that it is a record as \`Task\` wants it. */
export type LabTaskData = {
  domain: string
  skill: string
  decoy: string
  file: string
  /** Probability that a command breaks. Absent: none ever does. */
  commandFailures?: number
}

/** Stems of file names. No skill's text has these words. */
const STEMS = [
  'amber breeze cedar cobalt comet ember falcon harbor juniper lagoon maple meadow',
  'nectar orchid otter pebble quartz river saffron summit tundra walnut willow zephyr',
].flatMap((line) => line.split(' '))

/** Skills of a domain that tasks are about; the others stand beside them in slates. */
const SUBJECTS_OF_DOMAIN = 2

/** What may differ from the environment's standard task. */
export interface TaskOptions {
  /** Candidates a task shows, 4 to 64. Default 16. */
  slateSize?: number
  /** How often a task asks for its skill's steps to be run. Default 1. */
  horizon?: number
  /** Probability that a command breaks, whatever the policy does. Default 0. */
  commandFailures?: number
}

/** Which tasks: they differ in phrasing, in the files they name and, for `held-out-skill`, in the skill that is right. */
export type Split = 'train' | 'held-out' | 'held-out-skill'

const STREAM: Record<Split, number> = { train: 1, 'held-out': 2, 'held-out-skill': 3 }

interface Subject {
  domain: Domain
  skill: Omit<LabSkill, 'heldOutPhrasings'>
}

/**
 * `count` tasks of a split, each skill as often as any other. The same seed gives the same tasks; whatever the options, the i-th one has
 * the same phrasing, file and skill, and a smaller slate is part of a larger one.
 */
export function makeTasks(split: Split, count: number, seed: number, options: TaskOptions = {}): LabTask[] {
  const random = new SeededRandom(seed, STREAM[split])
  const subjects = subjectsOf(split)
  const tasks: LabTask[] = []
  let round: Subject[] = []
  for (let i = 0; i < count; i++) {
    if (i % subjects.length === 0) round = random.shuffled(subjects)
    const id = `lab-${split}-${String(i + 1).padStart(4, '0')}`
    tasks.push(makeTask(id, split, round[i % subjects.length]!, random, options))
  }
  return tasks
}

function subjectsOf(split: Split): Subject[] {
  if (split === 'held-out-skill') return domains.map((domain) => ({ domain, skill: domain.heldOutSkill }))
  return domains.flatMap((domain) =>
    domain.skills.slice(0, SUBJECTS_OF_DOMAIN).map((skill) => ({
      domain,
      skill: { ...skill, phrasings: split === 'train' ? skill.phrasings : skill.heldOutPhrasings },
    })),
  )
}

function makeTask(
  id: string,
  split: Split,
  { domain, skill }: Subject,
  random: SeededRandom,
  { slateSize = 16, horizon = 1, commandFailures = 0 }: TaskOptions,
): LabTask {
  const stems = STEMS.filter((stem) => isHeldOutFile(stem, domain) === (split !== 'train'))
  const file = `${random.pick(stems)}.${domain.extension}`
  return {
    id,
    prompt: random.pick(skill.phrasings).replaceAll('{file}', file) + repetition(horizon),
    oracle: [skill.name],
    slate: makeSlate(domain, skill, slateSize, random),
    data: {
      ...{ domain: domain.name, skill: skill.name, decoy: skill.decoy, file },
      ...(commandFailures > 0 && { commandFailures }),
    },
  }
}

/** One name in five is held out in each domain, another in each, so that training has all stems but not all files. */
function isHeldOutFile(stem: string, domain: Domain): boolean {
  return (STEMS.indexOf(stem) + domains.indexOf(domain)) % 5 === 0
}

/** The sentence that asks for more than one run of the steps. */
function repetition(horizon: number): string {
  return horizon === 1 ? '' : ` Run all its steps ${horizon === 2 ? 'twice' : `${horizon} times`}.`
}

/**
 * Skills of training only: no slate shows a held-out skill beside its own tasks. Where the skills that serve other tasks are used up,
 * misleading skills of distant domains stand among the irrelevant ones.
 */
function makeSlate(domain: Domain, { name, decoy }: Subject['skill'], size: number, random: SeededRandom) {
  const names = (skills: readonly { name: string }[]) => skills.map((skill) => skill.name)
  const own = names(domain.skills).filter((other) => other !== name)
  const near = domains.filter((other) => domain.neighbours.includes(other.name))
  const far = domains.filter((other) => other !== domain && !near.includes(other))
  const neighbouring = names(near.flatMap((other) => other.skills))
  const ownInOrder = random.shuffled(own)
  const neighbouringInOrder = random.shuffled(neighbouring)
  const unrelated = random.shuffled(names(far.flatMap((other) => other.skills)))
  const misleading = misleadingSkills(domain)
  const counts = slateCounts(size)
  return {
    relevant: [
      ...ownInOrder.slice(0, counts.ownRelevant),
      ...neighbouringInOrder.slice(0, counts.neighbouringRelevant),
    ],
    irrelevant: [...unrelated, ...far.flatMap(misleadingSkills)].slice(0, counts.irrelevant),
    misleading:
      size < 16
        ? [decoy, ...misleading.filter((other) => other !== decoy)].slice(0, counts.misleading)
        : misleading,
  }
}

/** How many of each kind stand beside the oracle: a third each up to 16, then all relevant ones there are before irrelevant ones. */
function slateCounts(size: number) {
  const third = Math.floor((size - 1) / 3)
  const misleading = Math.min(5, third)
  const relevant = Math.min(size < 16 ? third : 5 + Math.floor((size - 16) / 4), 11)
  const ownRelevant = Math.min(3, relevant)
  return {
    misleading,
    ownRelevant,
    neighbouringRelevant: relevant - ownRelevant,
    irrelevant: size - 1 - misleading - relevant,
  }
}
