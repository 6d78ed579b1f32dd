import { describe, expect, test } from 'vitest'
import { methodNames } from '../../../lib/config/rl-options.js'
import { outcomeAdvantage } from '../../../lib/credit/advantages.js'
import { assignCredit } from '../../../lib/credit/credit.js'
import { creditMethod, creditMethods } from '../../../lib/credit/methods/index.js'
import { skillFree } from '../../../lib/credit/methods/skill-free.js'
import { trajectoryBonus } from '../../../lib/credit/methods/trajectory-bonus.js'
import { groupOf } from '../group-of.js'

const mixed = [
  [1, 'oracle'],
  [0, 'misleading'],
  [1, 'misleading', 'oracle'],
  [0],
  [1],
  [0, 'relevant'],
  [null, 'oracle'],
] as const

test('the options name every method, each has its own name', () => {
  expect(creditMethods.map(({ name }) => name)).toEqual(methodNames)
  for (const method of creditMethods) expect(creditMethod(method.name)).toBe(method)
  expect(() => creditMethod('ppo')).toThrow(/ERR_UNKNOWN_METHOD|expected a credit method/)
})

describe('trajectory-bonus', () => {
  test.each<[string, readonly [number, ...string[]], number]>([
    ['an oracle read', [0, 'oracle'], 0.3],
    ['two oracle reads', [1, 'oracle', 'oracle'], 1.3],
    ['the oracle beside a relevant one', [0, 'relevant', 'oracle'], 0.3],
    ['a misleading read', [1, 'misleading'], 0.7],
    ['the oracle beside a misleading one', [0, 'oracle', 'misleading'], -0.3],
    ['reads that are neither', [1, 'relevant', 'irrelevant', 'unadvertised'], 1],
    ['success without a read', [1], 1.35],
    ['failure without a read', [0], 0],
    ['a negative reward without a read', [-1], -1],
  ])('%s is a reward of its own', (_, rollout, shaped) => {
    const others = [2, -2]
    const group = groupOf([rollout, ...others.map((r) => [r, 'relevant'] as const)])
    const wanted = outcomeAdvantage([shaped, ...others])
    for (const [i, a] of trajectoryBonus.outcome(group).entries()) expect(a).toBeCloseTo(wanted[i]!, 12)
  })

  test('has one channel, with every sampled token in it', () => {
    const { sequences, statistics } = assignCredit([groupOf(mixed)], { method: trajectoryBonus })
    for (const { channel, generated } of sequences) expect(channel).toEqual(generated)
    expect(statistics).toMatchObject({ selectionTokens: 0, activePositive: 0, activeNegative: 0 })
  })

  test('tells rollouts of equal reward apart by what they read', () => {
    const advantage = trajectoryBonus.outcome(groupOf([[1, 'oracle'], [1, 'misleading'], [1]]))
    expect(advantage.map(Math.sign)).toEqual(Float64Array.of(1, -1, 1))
  })

  test('without a label is grpo', () => {
    const group = groupOf(mixed, { labelled: false })
    expect(trajectoryBonus.outcome(group)).toEqual(creditMethod('grpo').outcome(group))
  })
})

test('skill-free is grpo on episodes without a slate', () => {
  const credit = (method: typeof skillFree) =>
    assignCredit([groupOf(mixed)], { method }).sequences.map(({ advantage, weight }) => [advantage, weight])
  expect(credit(skillFree)).toEqual(credit(creditMethod('grpo')))
  expect(skillFree.slate).toBe('hidden')
  expect(creditMethods.filter(({ slate }) => slate === 'hidden')).toEqual([skillFree])
})

const labelled = creditMethods.filter(
  ({ labels, readCalls }) => labels === 'needed' || readCalls === 'included',
)

test.each(labelled)('$name trains on a mix of labelled and unlabelled tasks', (method) => {
  const labelled = groupOf(mixed)
  const unlabelled = groupOf(mixed, { labelled: false, index: 1 })
  const { sequences } = assignCredit([labelled, unlabelled], { method })
  const ofUnlabelled = sequences.filter(({ trajectory }) => trajectory.group === 1)
  for (const { trajectory, channel, generated, advantage } of ofUnlabelled) {
    expect(channel, method.name).toEqual(generated)
    const place = unlabelled.trajectories.indexOf(trajectory)
    const outcome = creditMethod('grpo').outcome(unlabelled)[place]!
    for (const [t, a] of advantage.entries()) expect(a).toBeCloseTo(generated[t]! * outcome, 6)
  }
  const alone = assignCredit([labelled], { method })
  const channels = (list: typeof sequences) => list.map(({ channel, advantage }) => [channel, advantage])
  expect(channels(sequences.filter(({ trajectory }) => trajectory.group === 0))).toEqual(
    channels(alone.sequences),
  )
})
