import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { outcomeAdvantage } from '../../lib/credit/advantages.js'
import { contrastsOf, ENOUGH_READS, withContrasts, worthsOf } from '../../lib/credit/worth.js'
import { groupOf } from './group-of.js'

describe('a contrast', () => {
  test('is the mean of those that read it alone less that of those that did not read it', () => {
    const group = groupOf([[1, 'a'], [0, 'a'], [1, 'a'], [0, 'b'], [1, 'b', 'c'], [0], [null, 'b']])
    // Advantages are (r - 1/2) / std, and a difference of means of those is one of rewards, divided by std.
    const std = Math.sqrt((6 * 0.25) / 5) + 1e-6
    const contrasts = contrastsOf(group)
    expect([...contrasts.keys()]).toEqual(['a', 'b'])
    expect(contrasts.get('a')).toMatchObject({ reads: 3, evidence: (3 * 3) / 6 })
    expect(contrasts.get('a')!.difference).toBeCloseTo((2 / 3 - 1 / 3) / std, 12)
    expect(contrasts.get('b')).toMatchObject({ reads: 1, evidence: (1 * 4) / 5 })
    expect(contrasts.get('b')!.difference).toBeCloseTo((0 - 2 / 4) / std, 12)
  })

  test('leaves trajectories that read the skill among others out of both means', () => {
    const { difference } = contrastsOf(groupOf([[1, 'a'], [1, 'b', 'a'], [0]])).get('a')!
    const [success, , failure] = outcomeAdvantage([1, 1, 0])
    expect(difference).toBe(success! - failure!)
  })

  test('does not depend on the scale and the zero of rewards', () => {
    const of = (scale: number, shift: number) => {
      const rollouts = [[scale, 'a'] as const, [0, 'b'] as const, [scale / 2, 'b'] as const]
      return contrastsOf(groupOf(rollouts.map(([reward, skill]) => [reward + shift, skill]))).get('a')!
    }
    expect(of(1000, -7000).difference).toBeCloseTo(of(1, 0).difference, 5)
    expect(of(1, 0).difference).toBeCloseTo(1.5, 5)
  })

  test.each([
    ['equal rewards', [[1, 'a'], [1, 'b'], [1]]],
    [
      'nothing to compare with',
      [
        [1, 'a'],
        [0, 'a'],
      ],
    ],
    [
      'no one who read a skill alone',
      [
        [1, 'a', 'b'],
        [0, 'b', 'a'],
      ],
    ],
    ['no survivor', [[null, 'a']]],
  ] as const)('needs more than %s', (_, rollouts) => {
    expect(contrastsOf(groupOf(rollouts as never)).size).toBe(0)
  })
})

describe('worth', () => {
  const group = groupOf([
    [1, 'a'],
    [1, 'a'],
    [0, 'a'],
    [0, 'b'],
  ])

  test('does not count before enough trajectories have read the skill alone', () => {
    expect(worthsOf(group, []).size).toBe(0)
    expect([...worthsOf(group, [['a', 1, 0.5, 0.5]]).keys()]).toEqual(['a'])
    expect([...worthsOf(group, [['b', ENOUGH_READS - 1, 1, 0]]).keys()]).toEqual(['b'])
  })

  test('is the contrast of the group, shrunk towards what was seen before', () => {
    const [e, d] = [3 / 4, contrastsOf(group).get('a')!.difference]
    const prior = 1.2 / (4 + 2)
    const worth = worthsOf(group, [['a', 9, 4, 1.2]]).get('a')!
    expect(worth).toBeCloseTo((e * d + 2 * prior) / (e + 2), 12)
  })

  test('where the group says nothing is what was seen before, shrunk towards 0', () => {
    const equal = groupOf([
      [1, 'a'],
      [1, 'a'],
    ])
    expect(worthsOf(equal, [['a', 9, 4, 1.2]])).toEqual(new Map([['a', 1.2 / 6]]))
  })
})

test('the memory holds sums over groups, by name, and is not changed itself', () => {
  const groups = [groupOf([[1, 'b'], [0, 'a'], [0]]), groupOf([[1, 'b'], [0, 'b'], [0]])] as const
  const [first, second] = groups.map(contrastsOf)
  const memory = withContrasts([], groups)
  const sum = first!.get('b')!.difference * (2 / 3) + second!.get('b')!.difference * (2 / 3)
  expect(memory).toEqual([
    ['a', 1, 2 / 3, (2 / 3) * first!.get('a')!.difference],
    ['b', 3, 2 / 3 + 2 / 3, sum],
  ])
  const kept = structuredClone(memory)
  const more = withContrasts(memory, [groupOf([[1, 'a'], [0]])])
  expect(more[0]!.slice(0, 3)).toEqual(['a', 2, 2 / 3 + 1 / 2])
  expect(more[1]).toEqual(memory[1])
  expect(memory).toEqual(kept)
})

test('a read of a right skill is worth more than one of a wrong skill, though most right reads fail too', () => {
  // Rewards: 0.4 where the read is right, else 0; the pairing of a task with its right skill repeats over the groups.
  let state = 1
  const random = () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
  const draw = (right: string, wrong: string, index: number) =>
    groupOf(
      Array.from({ length: 8 }, () => {
        const skill = random() < 0.5 ? right : wrong
        return [skill === right && random() < 0.4 ? 1 : 0, skill] as const
      }),
      { index },
    )
  const groups = Array.from({ length: 60 }, (_, i) => draw(`right-${i % 6}`, `wrong-${i % 6}`, i))
  const memory = withContrasts([], groups.slice(0, 30))
  const worths = groups.slice(30).map((group, i) => ({ i: i % 6, worths: worthsOf(group, memory) }))
  const ordered = worths.filter(
    ({ i, worths }) => worths.get(`right-${i}`)! > (worths.get(`wrong-${i}`) ?? -1),
  )
  expect(ordered.length).toBe(worths.length)
})

test('memories survive JSON to the bit', () => {
  const reward = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.tuple(reward, fc.constantFrom('a', 'b', '__proto__')), { maxLength: 6 }), {
        maxLength: 4,
      }),
      (rollouts) => {
        const memory = withContrasts(
          [],
          rollouts.map((trials) => groupOf(trials)),
        )
        expect(JSON.parse(JSON.stringify(memory))).toEqual(memory)
        for (const [, ...sums] of memory) expect(sums.every(Number.isFinite)).toBe(true)
      },
    ),
  )
})
