import { describe, expect, it } from 'vitest'
import { misleadingSkills } from '../../../lib/environments/skill-lab/domain.js'
import { domains } from '../../../lib/environments/skill-lab/domains/all.js'
import { skillLab } from '../../../lib/environments/skill-lab/index.js'
import { loadLabLibrary } from '../../../lib/environments/skill-lab/library.js'
import { type LabTask, makeTasks } from '../../../lib/environments/skill-lab/tasks.js'
import { buildSlate } from '../../../lib/skills/slate.js'

const lab = await skillLab({ seed: 3 })
const { skills } = await loadLabLibrary()
const sets = { train: lab.trainTasks, heldOut: lab.heldOutTasks, heldOutSkill: lab.heldOutSkillTasks }
const all = Object.values(sets).flat()
const domainOf = (task: LabTask) => domains.find((domain) => domain.name === task.data.domain)!
const shown = (task: LabTask) => [
  ...(task.oracle ?? []),
  ...task.slate.relevant,
  ...task.slate.irrelevant,
  ...task.slate.misleading,
]

describe('tasks', () => {
  it('name their file in a request of one or two sentences', () => {
    for (const { prompt, data } of all) {
      expect(prompt).toContain(` ${data.file}`)
      expect(prompt).not.toMatch(/[{}]/)
      expect(data.file).toMatch(/^[a-z]+\.[a-z]+$/)
    }
  })

  it('show 16 different skills: 1 oracle, 5 relevant, 5 irrelevant, 5 misleading', () => {
    for (const task of all) {
      expect(task.oracle).toHaveLength(1)
      expect(new Set(shown(task)).size).toBe(16)
      for (const names of Object.values(task.slate)) expect(names).toHaveLength(5)
      const { candidates, labelled } = buildSlate(skills, task, { seed: 1 })
      expect(labelled).toBe(true)
      expect(candidates).toHaveLength(16)
    }
  })

  it('take misleading skills of their domain, relevant ones of it and its neighbours, irrelevant ones from elsewhere', () => {
    for (const task of all) {
      const domain = domainOf(task)
      expect([...task.slate.misleading].sort()).toEqual(misleadingSkills(domain).sort())
      const near = domains.filter((other) => other === domain || domain.neighbours.includes(other.name))
      const nearNames = new Set(near.flatMap((other) => other.skills.map((skill) => skill.name)))
      expect(task.slate.relevant.every((name) => nearNames.has(name))).toBe(true)
      expect(task.slate.irrelevant.some((name) => nearNames.has(name))).toBe(false)
    }
  })

  it('are of every skill equally often', () => {
    for (const [name, perSkill] of [
      ['train', 24],
      ['heldOut', 24],
      ['heldOutSkill', 12],
    ] as const) {
      const counts = new Map<string, number>()
      for (const task of sets[name]) counts.set(task.data.skill, (counts.get(task.data.skill) ?? 0) + 1)
      expect(counts.size).toBe(perSkill)
      expect(new Set(counts.values()).size).toBe(1)
    }
  })

  it('of training share no phrasing, file or id with those held out', () => {
    const phrasing = ({ prompt, data }: LabTask) => prompt.replace(data.file, 'FILE')
    for (const held of [sets.heldOut, sets.heldOutSkill]) {
      for (const trait of [phrasing, (task: LabTask) => task.data.file, (task: LabTask) => task.id]) {
        const trained = new Set(sets.train.map(trait))
        expect(held.filter((task) => trained.has(trait(task)))).toEqual([])
      }
    }
  })

  it('of training never show a held-out skill', () => {
    const heldOut = new Set(domains.map((domain) => domain.heldOutSkill.name))
    for (const task of sets.train) expect(shown(task).some((name) => heldOut.has(name))).toBe(false)
    for (const task of sets.heldOutSkill) expect(heldOut.has(task.data.skill)).toBe(true)
  })

  it('follow from the seed', () => {
    expect(makeTasks('train', 100, 5)).toEqual(makeTasks('train', 200, 5).slice(0, 100))
    expect(makeTasks('train', 100, 5)).not.toEqual(makeTasks('train', 100, 6))
    expect(makeTasks('held-out', 10, 2 ** 40)).not.toEqual(makeTasks('held-out', 10, 0))
  })
})
