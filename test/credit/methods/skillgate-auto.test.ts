import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignCredit } from '../../../lib/credit/credit.js'
import type { CreditMemory } from '../../../lib/credit/method.js'
import { skillgate } from '../../../lib/credit/methods/skillgate.js'
import { skillgateAuto } from '../../../lib/credit/methods/skillgate-auto.js'
import { withContrasts } from '../../../lib/credit/worth.js'
import type { Group } from '../../../lib/rollout/trajectory.js'
import { groupOf } from '../group-of.js'

const names = ['oracle', 'relevant', 'misleading-a', 'misleading-b', 'irrelevant']
const rollout = fc.tuple(
  fc.constantFrom(null, 0, 0.5, 1),
  fc.array(fc.constantFrom(...names), { maxLength: 3 }),
)
const group = fc
  .array(rollout, { minLength: 1, maxLength: 8 })
  .map((rollouts) => groupOf(rollouts.map(([reward, skills]) => [reward, ...skills] as const)))
const memory: fc.Arbitrary<CreditMemory> = fc
  .array(group, { maxLength: 4 })
  .map((groups) => withContrasts([], groups))

const plain = (advantages: Float64Array[]) => advantages.map((all) => [...all])
const rename = (groups: Group, to: (skill: string) => string): Group => ({
  ...groups,
  trajectories: groups.trajectories.map((t) => ({
    ...t,
    slate: t.slate.map((entry) => ({ ...entry, name: to(entry.name) })).toReversed(),
    reads: t.reads.map((read) => ({ ...read, skill: to(read.skill) })),
  })),
})

test('what a skill is called and where it stands in the slate does not matter', () => {
  const shuffled = fc.shuffledSubarray(names, { minLength: names.length })
  fc.assert(
    fc.property(group, memory, shuffled, (group, memory, order) => {
      const to = (skill: string) => order[names.indexOf(skill)]!
      const renamed = memory.map(([skill, ...sums]) => [to(skill), ...sums] as const)
      expect(plain(skillgateAuto.actions(rename(group, to), renamed))).toEqual(
        plain(skillgateAuto.actions(group, memory)),
      )
    }),
  )
})

test('no label is read: wrong ones, or none, give the same credit and the same memory', () => {
  const label = fc.constantFrom('oracle', 'relevant', 'irrelevant', 'misleading', 'unadvertised')
  fc.assert(
    fc.property(
      group,
      memory,
      fc.boolean(),
      fc.array(label, { minLength: 24, maxLength: 24 }),
      (group, memory, labelled, labels) => {
        const wrong: Group = {
          ...group,
          trajectories: group.trajectories.map((t, i) => ({
            ...t,
            labelled,
            reads: t.reads.map((read, j) => ({ ...read, category: labels[3 * i + j] as never })),
          })),
        }
        const credit = (group: Group) =>
          assignCredit([group], { method: skillgateAuto, memory }).sequences.map(
            ({ channel, advantage, weight }) => ({ channel, advantage, weight }),
          )
        expect(credit(wrong)).toEqual(credit(group))
        expect(skillgateAuto.learn!(memory, [wrong])).toEqual(skillgateAuto.learn!(memory, [group]))
      },
    ),
  )
})

test('without evidence no read has selection credit, and none has the outcome credit', () => {
  fc.assert(
    fc.property(fc.array(rollout, { minLength: 1, maxLength: 3 }), (rollouts) => {
      const few = groupOf(rollouts.map(([reward, skills]) => [reward, ...skills] as const))
      for (const advantages of skillgateAuto.actions(few)) {
        expect(advantages).toEqual(new Float64Array(advantages.length))
      }
      const { sequences, statistics } = assignCredit([few], { method: skillgateAuto })
      expect(statistics.selectionTokens).toBe(0)
      for (const { trajectory, channel } of sequences)
        for (const { call } of trajectory.reads)
          expect(channel.slice(call.start, call.end).every((c) => c === 0)).toBe(true)
    }),
  )
})

test('reads without enough evidence are left out of the mean', () => {
  const group = groupOf([[1, 'good'], [0, 'bad'], [1, 'new'], [0]])
  const memory: CreditMemory = [
    ['bad', 9, 6, -3],
    ['good', 9, 6, 3],
  ]
  const [good, bad, fresh] = skillgateAuto.actions(group, memory).map((advantages) => advantages[0])
  expect(fresh).toBe(0)
  expect(good).toBeCloseTo(-bad!, 12)
  expect(good).toBeGreaterThan(0.3)
})

test('each read of a trajectory is credited by its own skill; a second read of the same skill adds nothing', () => {
  const memory: CreditMemory = [
    ['bad', 20, 10, -5],
    ['good', 20, 10, 5],
  ]
  const group = groupOf([[1, 'bad', 'good', 'good'], [0, 'bad'], [0]])
  const [first, second] = skillgateAuto.actions(group, memory)
  expect(first![0]).toBeLessThan(0)
  expect(first![1]).toBeGreaterThan(0)
  expect(first![1]).toBeGreaterThan(first![2]!)
  expect(second![0]).toBe(first![0])
})

test('on what the outcomes show plainly it agrees in sign with the labels', () => {
  const group = groupOf([
    [1, 'oracle'],
    [1, 'oracle'],
    [1, 'oracle'],
    [0, 'oracle'],
    [0, 'misleading'],
    [0, 'misleading'],
    [0, 'misleading'],
    [0, 'misleading'],
  ])
  const signs = (advantages: Float64Array[]) => advantages.map(([a]) => Math.sign(a!))
  expect(signs(skillgateAuto.actions(group))).toEqual(signs(skillgate.actions(group)))
})
