import { describe, expect, it } from 'vitest'
import { demonstrate, demonstration } from '../../../lib/environments/skill-lab/demonstrations.js'
import { loadLabLibrary } from '../../../lib/environments/skill-lab/library.js'
import { SeededRandom } from '../../../lib/environments/skill-lab/seeded-random.js'
import { type LabTask, makeTasks } from '../../../lib/environments/skill-lab/tasks.js'
import { planOf, teacherHabits } from '../../../lib/environments/skill-lab/teacher.js'
import { verify } from '../../../lib/environments/skill-lab/verify.js'
import { parseToolCalls } from '../../../lib/rollout/tool-calls.js'
import type { Message } from '../../../lib/rollout/trajectory.js'
import { buildSlate } from '../../../lib/skills/slate.js'

const library = await loadLabLibrary()
const tasks = makeTasks('train', 500, 0)
const byId = new Map(tasks.map((task) => [task.id, task]))
const perfect = { ...teacherHabits, oracle: 1, decoy: 0, misleading: 0, relevant: 0, slip: 0 }
const blind = { ...perfect, oracle: 0, decoy: 1, secondLook: 0 }

function callsOf(messages: readonly Message[]) {
  return messages
    .filter((message) => message.role === 'assistant')
    .flatMap((message) => parseToolCalls(message.content).calls)
}

function rewardOf(task: LabTask, messages: readonly Message[]): number {
  const run = callsOf(messages).filter((call) => call.name === 'run')
  const expected = library.procedures.get(task.data.skill)!
  return (
    verify(
      run.map((call) => String(call.arguments.command)),
      expected,
    ) as { reward: number }
  ).reward
}

const readsOf = (messages: readonly Message[]) =>
  callsOf(messages)
    .filter((call) => call.name === 'read')
    .map((call) => library.skills.byPath(String(call.arguments.path))!.name)

describe('demonstrations', () => {
  const demos = demonstrate(library, tasks, { count: 2000, seed: 1 })

  it('are conversations of one call a turn, each answered, and a last word', () => {
    for (const { taskId, messages, tools } of demos.slice(0, 200)) {
      expect(byId.get(taskId)!.prompt).toBe(messages[1]!.content)
      expect(messages.slice(0, 2).map((message) => message.role)).toEqual(['system', 'user'])
      expect(messages.at(-1)).toEqual({ role: 'assistant', content: 'Done.' })
      expect(tools?.map((tool) => tool.name)).toEqual(['read', 'run'])
      const turns = messages.slice(2, -1)
      for (let i = 0; i < turns.length; i += 2) {
        const { calls, malformed, content } = parseToolCalls(turns[i]!.content)
        expect([calls.length, malformed.length, content]).toEqual([1, 0, ''])
        expect(turns[i + 1]).toMatchObject({ role: 'tool', name: calls[0]!.name })
      }
      const answers = turns.filter((message) => message.role === 'tool').map((message) => message.content)
      for (const answer of answers) expect(answer).toMatch(/^---\nname: |^\[\d\] ok$/)
    }
  })

  it('of a task follow each other and share its prompt', () => {
    for (let i = 0; i < 40; i += 4) {
      const four = demos.slice(i, i + 4)
      expect(new Set(four.map((demo) => demo.taskId)).size).toBe(1)
      expect(new Set(four.map((demo) => demo.messages[0]!.content)).size).toBe(1)
    }
    expect(new Set(demos.map((demo) => demo.taskId)).size).toBe(500)
  })

  it('read the oracle first in about half of the cases, and mostly its decoy else', () => {
    const first = demos.map(({ taskId, messages }) => {
      const { data, slate } = byId.get(taskId)!
      const name = readsOf(messages)[0]!
      if (name === data.skill) return 'oracle'
      if (name === data.decoy) return 'decoy'
      return slate.misleading.includes(name)
        ? 'misleading'
        : slate.relevant.includes(name)
          ? 'relevant'
          : 'none'
    })
    const share = (kind: string) => first.filter((one) => one === kind).length / demos.length
    expect(share('oracle')).toBeCloseTo(teacherHabits.oracle, 1)
    expect(share('decoy')).toBeCloseTo(teacherHabits.decoy, 1)
    expect(share('misleading')).toBeCloseTo(teacherHabits.misleading, 1)
    expect(share('none')).toBe(0)
  })

  it('succeed without a slip after the oracle, with some slips less often, and never after another skill', () => {
    let right = 0
    let oracleLast = 0
    for (const { taskId, messages } of demos) {
      const task = byId.get(taskId)!
      const reward = rewardOf(task, messages)
      if (readsOf(messages).at(-1) !== task.data.skill) expect(reward).toBe(0)
      else {
        oracleLast++
        right += reward
      }
    }
    expect(right / oracleLast).toBeCloseTo(1 - teacherHabits.slip, 1)
    const random = new SeededRandom(0)
    for (const task of tasks) {
      const slate = buildSlate(library.skills, task, { seed: 0 })
      const good = demonstration(library, task, planOf(task, library.procedures, perfect, random), slate)
      const bad = demonstration(library, task, planOf(task, library.procedures, blind, random), slate)
      expect(rewardOf(task, good.messages)).toBe(1)
      expect(rewardOf(task, bad.messages)).toBe(0)
    }
  })

  it('show small slates and whole ones, with all that is read', () => {
    const shown = demos.map(({ messages }) =>
      Array.from(messages[0]!.content.matchAll(/<name>(.*)<\/name>/g), (m) => m[1]!),
    )
    for (let i = 0; i < demos.length; i += 4) {
      const read = new Set(demos.slice(i, i + 4).flatMap((demo) => readsOf(demo.messages)))
      const { data } = byId.get(demos[i]!.taskId)!
      for (const name of [data.skill, data.decoy]) read.add(name)
      for (const name of read) expect(shown[i]).toContain(name)
      expect(shown[i]).toHaveLength((i / 4) % 2 === 1 ? 16 : Math.max(4, read.size))
    }
  })

  it('stop after the first read for the share of tasks that is asked for', () => {
    const some = demonstrate(library, tasks, { count: 700, seed: 1, perTask: 1, choicesOfSeven: 4 })
    const short = some.filter(({ messages }) => messages.at(-1)!.content !== 'Done.')
    expect(short).toHaveLength(400)
    for (const { messages } of short) {
      expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
      expect(readsOf(messages)).toHaveLength(1)
    }
    const whole = demonstrate(library, tasks, { count: 700, seed: 1, perTask: 1 })
    some.forEach((demo, i) => {
      expect(whole[i]!.messages.slice(0, demo.messages.length)).toEqual(demo.messages)
    })
  })

  it('follow from the seed', () => {
    expect(demonstrate(library, tasks, { count: 20, seed: 1 })).toEqual(demos.slice(0, 20))
    expect(demonstrate(library, tasks, { count: 20, seed: 2 })).not.toEqual(demos.slice(0, 20))
  })

  it('begin again with the first task where there are too few', () => {
    const few = demonstrate(library, tasks.slice(0, 2), { count: 6, seed: 1, perTask: 2 })
    const ids = tasks.map((task) => task.id)
    expect(few.map((demo) => demo.taskId)).toEqual([0, 0, 1, 1, 0, 0].map((i) => ids[i]))
  })
})
