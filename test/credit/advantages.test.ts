import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  cleanOracleUtility,
  firstOracleUtility,
  outcomeAdvantage,
  selectorAdvantage,
} from '../../lib/credit/advantages.js'
import type { SkillRead } from '../../lib/rollout/trajectory.js'
import type { ReadCategory } from '../../lib/skills/skill.js'

const zeros = (n: number) => new Float64Array(n)
const rewards = fc.array(
  fc.integer({ min: -8, max: 8 }).map((n) => n / 4),
  { minLength: 1, maxLength: 12 },
)
const reads = (...categories: ReadCategory[]): SkillRead[] =>
  categories.map((category) => ({
    ...{ skill: category, category, tool: 'read', sequence: 0, turn: 0 },
    ...{ call: { start: 0, end: 1 }, identity: { start: 0, end: 1 } },
  }))

test('is (r - mean) / (std + 1e-6), std with n-1', () => {
  const [low, high] = outcomeAdvantage([1, 3])
  expect(high).toBeCloseTo(1 / (Math.SQRT2 + 1e-6), 14)
  expect(low).toBe(-high!)
})

test.each([
  ['a group of one', [5]],
  ['no reward', []],
  ['equal rewards whose mean rounds', [0.4, 0.4, 0.4]],
  ['equal rewards', Array(7).fill(0.1)],
  ['a zero of each sign', [0, -0]],
])('%s: exactly 0', (_, rewards) => {
  expect(outcomeAdvantage(rewards)).toEqual(zeros(rewards.length))
})

test('nearly equal rewards do not explode', () => {
  const advantage = outcomeAdvantage([0, ...Array(7).fill(0.95)])
  expect(advantage[0]).toBeCloseTo(-2.4749, 3)
  expect(outcomeAdvantage([1, 1 + 1e-12]).every((a) => Math.abs(a) < 1e-5)).toBe(true)
})

test('huge rewards have finite advantages, the same as those of a thousandth', () => {
  const huge = outcomeAdvantage([1e300, -1e300, 3e299])
  const less = outcomeAdvantage([1e297, -1e297, 3e296])
  for (const [i, a] of huge.entries()) expect(a).toBeCloseTo(less[i]!, 12)
})

test('adding a constant to the rewards changes nothing', () => {
  fc.assert(
    fc.property(rewards, fc.integer({ min: -1000, max: 1000 }), (rewards, constant) => {
      const shifted = outcomeAdvantage(rewards.map((r) => r + constant))
      for (const [i, a] of outcomeAdvantage(rewards).entries())
        expect(Math.abs(shifted[i]! - a)).toBeLessThan(1e-9)
    }),
  )
})

test('permuting the samples permutes the advantages bit for bit', () => {
  const any = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1, maxLength: 12 })
  const permuted = any.chain((rewards) =>
    fc.tuple(fc.constant(rewards), fc.shuffledSubarray([...rewards.keys()], { minLength: rewards.length })),
  )
  fc.assert(
    fc.property(permuted, ([rewards, order]) => {
      const straight = outcomeAdvantage(rewards)
      expect(outcomeAdvantage(order.map((i) => rewards[i]!))).toEqual(
        Float64Array.from(order, (i) => straight[i]!),
      )
    }),
  )
})

test('advantages of a group sum to 0 and have the order of the rewards', () => {
  fc.assert(
    fc.property(rewards, (rewards) => {
      const advantage = outcomeAdvantage(rewards)
      expect(Math.abs(advantage.reduce((a, b) => a + b, 0))).toBeLessThan(1e-9)
      for (let i = 1; i < rewards.length; i++)
        expect(Math.sign(advantage[i]! - advantage[0]!)).toBe(Math.sign(rewards[i]! - rewards[0]!))
    }),
  )
})

test.each<[ReadCategory[], number[], number[]]>([
  [['oracle'], [1], [1]],
  [
    ['oracle', 'oracle'],
    [0, 0],
    [1, 0],
  ],
  [
    ['misleading', 'oracle'],
    [0, 0],
    [0, 1],
  ],
  [
    ['oracle', 'unadvertised'],
    [0, 0],
    [1, 0],
  ],
  [['relevant'], [0], [0]],
  [[], [], []],
])('reads of %j have clean-oracle utility %j and first-oracle utility %j', (categories, clean, first) => {
  expect(cleanOracleUtility(reads(...categories))).toEqual(clean)
  expect(firstOracleUtility(reads(...categories))).toEqual(first)
})

test('the selector advantage is the utility less its mean over the reads of the group', () => {
  expect(selectorAdvantage([[1], [0, 0], [], [0]])).toEqual(
    [[0.75], [-0.25, -0.25], [], [-0.25]].map((a) => Float64Array.from(a)),
  )
})

test.each([[[[1], [1], [1]]], [[[0, 0], [0], []]], [[[], []]]])('utilities %j are inactive', (utilities) => {
  expect(selectorAdvantage(utilities)).toEqual(utilities.map((u) => zeros(u.length)))
})
