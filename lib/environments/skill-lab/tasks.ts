import type { Task } from '../../tasks/task.js'
import { type Domain, type LabSkill, misleadingSkills } from './domain.js'
import { domains } from './domains/all.js'
import { SeededRandom } from './seeded-random.js'

/** A task of the environment; `data` holds what its verifier and its teacher know. */
export interface LabTask extends Task {
  oracle: readonly [string]
  slate: { relevant: readonly string[]; irrelevant: readonly string[]; misleading: readonly string[] }
  data: LabTaskData
}

/** A type and no interface, so that it is a record as \`Task\` wants it. */
export type LabTaskData = { domain: string; skill: string; decoy: string; file: string }

/** Stems of file names. No skill's text has these words. */
const STEMS = [
  'amber breeze cedar cobalt comet ember falcon harbor juniper lagoon maple meadow',
  'nectar orchid otter pebble quartz river saffron summit tundra walnut willow zephyr',
].flatMap((line) => line.split(' '))

/** Skills of a domain that tasks are about; the others stand beside them in slates. */
const SUBJECTS_OF_DOMAIN = 2
const RELEVANT_OF_DOMAIN = 3
const RELEVANT_OF_NEIGHBOURS = 2
const IRRELEVANT = 5

/** Which tasks: they differ in phrasing, in the files they name and, for `held-out-skill`, in the skill that is right. */
export type Split = 'train' | 'held-out' | 'held-out-skill'

const STREAM: Record<Split, number> = { train: 1, 'held-out': 2, 'held-out-skill': 3 }

interface Subject {
  domain: Domain
  skill: Omit<LabSkill, 'heldOutPhrasings'>
}

/** `count` tasks of a split, each skill as often as any other. The same seed gives the same tasks. */
export function makeTasks(split: Split, count: number, seed: number): LabTask[] {
  const random = new SeededRandom(seed, STREAM[split])
  const subjects = subjectsOf(split)
  const tasks: LabTask[] = []
  let round: Subject[] = []
  for (let i = 0; i < count; i++) {
    if (i % subjects.length === 0) round = random.shuffled(subjects)
    const id = `lab-${split}-${String(i + 1).padStart(4, '0')}`
    tasks.push(makeTask(id, split, round[i % subjects.length]!, random))
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

function makeTask(id: string, split: Split, { domain, skill }: Subject, random: SeededRandom): LabTask {
  const stems = STEMS.filter((stem) => isHeldOutFile(stem, domain) === (split !== 'train'))
  const file = `${random.pick(stems)}.${domain.extension}`
  return {
    id,
    prompt: random.pick(skill.phrasings).replaceAll('{file}', file),
    oracle: [skill.name],
    slate: makeSlate(domain, skill.name, random),
    data: { domain: domain.name, skill: skill.name, decoy: skill.decoy, file },
  }
}

/** One name in five is held out in each domain, another in each, so that training has all stems but not all files. */
function isHeldOutFile(stem: string, domain: Domain): boolean {
  return (STEMS.indexOf(stem) + domains.indexOf(domain)) % 5 === 0
}

/** Skills of training only: no slate shows a held-out skill beside its own tasks. */
function makeSlate(domain: Domain, oracle: string, random: SeededRandom): LabTask['slate'] {
  const names = (skills: readonly { name: string }[]) => skills.map((skill) => skill.name)
  const own = names(domain.skills).filter((name) => name !== oracle)
  const near = domains.filter((other) => domain.neighbours.includes(other.name))
  const far = domains.filter((other) => other !== domain && !near.includes(other))
  const neighbouring = names(near.flatMap((other) => other.skills))
  return {
    relevant: [
      ...random.sample(own, RELEVANT_OF_DOMAIN),
      ...random.sample(neighbouring, RELEVANT_OF_NEIGHBOURS),
    ],
    irrelevant: random.sample(names(far.flatMap((other) => other.skills)), IRRELEVANT),
    misleading: misleadingSkills(domain),
  }
}
