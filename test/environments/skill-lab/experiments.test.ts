import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultsFor } from '../../../lib/environments/skill-lab/defaults.js'
import { skillLab } from '../../../lib/environments/skill-lab/index.js'
import { withoutLabels, withWrongLabels } from '../../../lib/environments/skill-lab/labels.js'
import { loadLabLibrary } from '../../../lib/environments/skill-lab/library.js'
import { type LabTask, makeTasks } from '../../../lib/environments/skill-lab/tasks.js'
import type { AgentSession, RolloutOutcome } from '../../../lib/rollout/agent.js'
import { buildSlate } from '../../../lib/skills/slate.js'

const { skills, procedures } = await loadLabLibrary()
const tasks = makeTasks('train', 200, 4)
const shown = (task: LabTask) => [...(task.oracle ?? []), ...Object.values(task.slate).flat()].sort()
const order = (task: LabTask) =>
  buildSlate(skills, task, { seed: 9 }).candidates.map(({ skill }) => skill.name)

describe('wrong labels', () => {
  it('are exactly the share that was asked for, and name another candidate', () => {
    for (const share of [0, 0.1, 0.2, 0.4, 1]) {
      const noisy = withWrongLabels(tasks, share, 1)
      const wrong = noisy.filter(({ oracle, data }) => oracle![0] !== data.skill)
      expect(wrong).toHaveLength(200 * share)
      for (const [i, task] of noisy.entries()) {
        expect(task.data).toEqual(tasks[i]!.data)
        expect(shown(task)).toEqual(shown(tasks[i]!))
        expect(order(task)).toEqual(order(tasks[i]!))
        for (const category of ['relevant', 'irrelevant', 'misleading'] as const)
          expect(task.slate[category]).toHaveLength(5)
      }
    }
  })

  it('of a smaller share are among those of a larger one, with the same wrong name', () => {
    const [few, many] = [withWrongLabels(tasks, 0.1, 1), withWrongLabels(tasks, 0.4, 1)]
    for (const [i, task] of few.entries())
      if (task.oracle![0] !== task.data.skill) expect(many[i]!.oracle).toEqual(task.oracle)
  })

  it('follow from the seed', () => {
    expect(withWrongLabels(tasks, 0.2, 1)).toEqual(withWrongLabels(tasks, 0.2, 1))
    expect(withWrongLabels(tasks, 0.2, 1)).not.toEqual(withWrongLabels(tasks, 0.2, 2))
  })
})

describe('missing labels', () => {
  it('leave the candidates and their order as they are, none with a category', () => {
    const half = withoutLabels(tasks, 0.5, 1)
    expect(half.filter(({ oracle }) => oracle === undefined)).toHaveLength(100)
    for (const [i, task] of half.entries()) {
      expect(order(task)).toEqual(order(tasks[i]!))
      const slate = buildSlate(skills, task, { seed: 9 })
      expect(slate.labelled).toBe(task.oracle !== undefined)
      if (!slate.labelled) expect(slate.candidates.every(({ category }) => category === undefined)).toBe(true)
    }
  })
})

describe('the slate', () => {
  it('of any size holds so many different skills, its decoy among them, and a larger one a smaller one', () => {
    const large = makeTasks('train', 40, 4, { slateSize: 64 })
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 64 }), (slateSize) => {
        for (const [i, task] of makeTasks('train', 40, 4, { slateSize }).entries()) {
          expect(new Set(shown(task)).size).toBe(slateSize)
          expect(task.slate.misleading).toContain(task.data.decoy)
          expect(shown(large[i]!)).toEqual(expect.arrayContaining(shown(task)))
          expect(task.prompt).toBe(tasks[i]!.prompt)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('of 4 has one of each category', () => {
    const { slate } = makeTasks('train', 1, 0, { slateSize: 4 })[0]!
    expect(Object.values(slate).map((names) => names.length)).toEqual([1, 1, 1])
  })
})

describe('the horizon', () => {
  it('asks for the steps several times, and for nothing else', () => {
    const long = makeTasks('train', 20, 4, { horizon: 4 })
    for (const [i, { prompt, ...rest }] of long.entries()) {
      const { prompt: short, ...others } = tasks[i]!
      expect(prompt).toBe(`${short} Run all its steps 4 times.`)
      expect(rest).toEqual(others)
    }
  })

  it('is what the teacher shows and the turns allow', async () => {
    const lab = await skillLab({ horizon: 2 })
    const commands = lab
      .demonstrations(40, 0)
      .map(({ messages }) => messages.filter(({ name, role }) => role === 'tool' && name === 'run').length)
    const longest = Math.max(...Array.from(procedures.values(), (steps) => steps.length))
    expect(Math.max(...commands)).toBeGreaterThan(longest)
    expect(Math.max(...commands)).toBeLessThanOrEqual(2 * longest)
    expect(lab.defaults.rl.maxTurns).toBe(2 + 2 * longest + 1)
  })
})

describe('command failures', () => {
  it('break a right episode as often as they should, by its seed alone, in training tasks only', async () => {
    const lab = await skillLab({ commandFailures: 0.2 })
    const play = async (task: LabTask, seed: number) => {
      const steps = procedures.get(task.data.skill)!
      const turns = [...steps.map((command) => ({ name: 'run', arguments: { command } })), undefined].map(
        (call) => ({ toolCalls: call ? [call] : [], finishReason: 'stop' }),
      )
      const nothing = () => {}
      const session = {
        ...{ seed, task, system: nothing, user: nothing, toolResult: nothing, toolError: nothing },
        availableSkills: () => '',
        readSkill: () => undefined,
        generate: async () => turns.shift()!,
      } as unknown as AgentSession
      return (await lab.agent(session, task)) as RolloutOutcome
    }
    const task = lab.trainTasks[0]!
    const rewards = await Promise.all(Array.from({ length: 2000 }, (_, seed) => play(task, seed)))
    const share = rewards.filter(({ reward }) => reward === 1).length / 2000
    const expected = 0.8 ** procedures.get(task.data.skill)!.length
    // Three standard deviations of a share of 2000.
    expect(Math.abs(share - expected)).toBeLessThan(3 * Math.sqrt((expected * (1 - expected)) / 2000))
    expect(await play(task, 7)).toEqual(rewards[7])
    const held = await Promise.all(Array.from({ length: 20 }, (_, seed) => play(lab.heldOutTasks[0]!, seed)))
    expect(held.every(({ reward }) => reward === 1)).toBe(true)
  })
})

it('options out of range are refused, and the standard ones are the defaults', async () => {
  await expect(skillLab({ slateSize: 3 })).rejects.toMatchObject({ code: 'ERR_SKILL_LAB' })
  await expect(skillLab({ horizon: 1.5 })).rejects.toMatchObject({ code: 'ERR_SKILL_LAB' })
  await expect(skillLab({ wrongLabels: 1.1 })).rejects.toMatchObject({ code: 'ERR_SKILL_LAB' })
  await expect(skillLab({ missingLabels: Number.NaN })).rejects.toMatchObject({ code: 'ERR_SKILL_LAB' })
  const standard = { slateSize: 16, horizon: 1, wrongLabels: 0, missingLabels: 0 }
  const [one, other] = [await skillLab({ seed: 2 }), await skillLab({ seed: 2, ...standard })]
  expect(other.trainTasks).toEqual(one.trainTasks)
  expect(defaultsFor()).toEqual(defaultsFor({ slateSize: 16, horizon: 1 }))
})
