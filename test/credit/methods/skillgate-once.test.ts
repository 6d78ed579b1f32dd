import { expect, test } from 'vitest'
import { assignCredit } from '../../../lib/credit/credit.js'
import { skillgate } from '../../../lib/credit/methods/skillgate.js'
import { skillgateOnce } from '../../../lib/credit/methods/skillgate-once.js'
import type { Group, SkillRead } from '../../../lib/rollout/trajectory.js'
import { groupOf } from '../group-of.js'

const credit = (group: Group, method = skillgateOnce) => assignCredit([group], { method })

test('where every rollout reads once it is skillgate, bit for bit', () => {
  const group = groupOf([[1, 'oracle'], [0, 'misleading'], [0.5, 'oracle'], [0.25]])
  expect(credit(group)).toEqual(credit(group, skillgate))
})

test('a call that reads again has the outcome, the first its own channel', () => {
  // Tokens of the first: a prompt, two reads of three tokens, two more. Utilities 0, 0 and 1; mean 1/3.
  const { sequences, statistics } = credit(
    groupOf([
      [0, 'oracle', 'oracle'],
      [1, 'oracle'],
    ]),
  )
  const [twice, once] = sequences
  expect([...twice!.channel]).toEqual([0, 0, 2, 0, 1, 1, 1, 1, 1])
  const [outcome, choice] = [-Math.SQRT1_2, -1 / 3]
  const expected = [0, 0, choice, 0, ...Array(5).fill(outcome)]
  for (const [i, advantage] of twice!.advantage.entries()) expect(advantage).toBeCloseTo(expected[i], 5)
  expect([...once!.channel]).toEqual([0, 0, 2, 0, 1, 1])
  expect(statistics).toMatchObject({ reads: 3, activePositive: 1, activeNegative: 1 })
})

test('all skills that the first call reads belong to the choice', () => {
  const group = groupOf([
    [0, 'oracle', 'misleading'],
    [1, 'oracle'],
  ])
  const [first, second] = group.trajectories[0]!.reads as [SkillRead, SkillRead]
  const call = { start: first.call.start, end: second.call.end }
  for (const read of [first, second]) read.call = call
  expect(Array.from(credit(group).sequences[0]!.channel)).toEqual([0, 0, 2, 0, 0, 2, 0, 1, 1])
  expect(credit(group)).toEqual(credit(group, skillgate))
})
