import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { audit } from '../../lib/audit/audit.js'
import { linesOf, record } from './lines-of.js'

const none = { reads: [] }
const misleading = { reads: [{ category: 'misleading', call: 10, identity: 2 }] }

describe('audit', () => {
  it('measures a group by hand', async () => {
    const source = linesOf([
      record({ reward: 1, generated: 100 }),
      record({ reward: 0, generated: 200 }),
      record({ reward: 0, generated: 400, ...misleading }),
      record({ reward: 0, generated: 50, ...none }),
    ])
    const { overall, counts, notes } = await audit(source)
    const sd = Math.sqrt((0.75 ** 2 + 3 * 0.25 ** 2) / 3) + 1e-6
    expect(counts).toMatchObject({ read: 4, measured: 4, groups: 1, tasks: 1, steps: 1 })
    expect(notes).toEqual([])
    expect(overall).toMatchObject({ trajectories: 4, withRead: 3, oracleReaders: 2, mixedGroups: 1 })
    // Shares 20/100, 20/200, 10/400 and 4/100, 4/200, 2/400.
    expect(overall.callShareMedian).toBeCloseTo(0.1, 12)
    expect(overall.callShareMean).toBeCloseTo(0.325 / 3, 12)
    expect(overall.identityShareMedian).toBeCloseTo(0.02, 12)
    expect(overall.generatedMedian).toBe(150)
    expect(overall.oracleNegativeRate).toBe(0.5)
    expect(overall.advantageGapMean).toBeCloseTo(0.5 / sd, 12)
    expect(overall).toMatchObject({
      advantageGapSd: null,
      advantageGapSnr: null,
      generatedOverResponseMean: null,
    })
    expect(overall.value).toEqual({ mean: 0.5, low: null, high: null, tasks: 1 })
  })

  it('takes the mean over groups of a task, then over tasks', async () => {
    const group = (task: string, name: number, [reader, other]: [number, number]) => [
      record({ task, group: name, reward: reader }),
      record({ task, group: name, reward: other, ...none }),
    ]
    const { overall } = await audit(
      linesOf([...group('a', 0, [1, 0]), ...group('a', 1, [0, 0]), ...group('b', 2, [0, 1])]),
    )
    expect(overall.value).toMatchObject({ mean: (0.5 - 1) / 2, tasks: 2 })
    expect(overall.mixedGroups).toBe(3)
    // A group whose rewards are all equal has advantage exactly 0: nobody is blamed in it.
    expect(overall.oracleNegativeRate).toBeCloseTo(1 / 3, 12)
  })

  it('bins trajectories by their length, and a group by its median', async () => {
    const source = linesOf([
      record({ generated: 3000 }),
      record({ generated: 3001, reward: 0, ...none }),
      record({ generated: 20_000, reward: 0 }),
    ])
    const { bins } = await audit(source)
    expect(bins.map((bin) => bin.trajectories)).toEqual([1, 1, 0, 0, 1])
    expect(bins.map((bin) => bin.mixedGroups)).toEqual([0, 1, 0, 0, 0])
    const two = await audit(linesOf([record({ generated: 3000 }), record({ generated: 3001, ...none })]))
    expect(two.bins.map((bin) => bin.mixedGroups)).toEqual([1, 0, 0, 0, 0])
    const own = await audit(source, { bins: [500, 3500] })
    expect(own.bins.map(({ label, trajectories }) => [label, trajectories])).toEqual([
      ['<=500', 0],
      ['500-3.5k', 2],
      ['>3.5k', 1],
    ])
  })

  it('leaves out trajectories without a reward or a sampled token, and says so', async () => {
    const { counts, overall, notes } = await audit(
      linesOf([
        record({ reward: null }),
        record({ reward: 1 }),
        record({ reward: 0, ...none }),
        record({ reward: 1, generated: 0, ...none }),
      ]),
    )
    expect(counts).toMatchObject({ read: 4, measured: 2, failed: 1, empty: 1 })
    expect(overall.trajectories).toBe(2)
    expect(notes).toEqual([
      '1 of 4 trajectories have no reward and are left out',
      '1 of 4 trajectories have no sampled token and are left out',
    ])
  })

  it('counts what is above the threshold as a success', async () => {
    const source = linesOf([record({ reward: 0.6 }), record({ reward: 0.4, ...none })])
    expect((await audit(source)).overall.value.mean).toBe(0)
    expect((await audit(source, { successAbove: 0.5 })).overall.value.mean).toBe(1)
  })

  it('says nothing of Sign and Value where nobody reads the oracle', async () => {
    const { overall } = await audit(linesOf([record(misleading), record({ reward: 0, ...none })]))
    expect(overall).toMatchObject({ oracleReaders: 0, oracleNegativeRate: null, mixedGroups: 0 })
    expect(overall.value).toEqual({ mean: null, low: null, high: null, tasks: 0 })
    expect(overall.callShareMedian).toBe(0.1)
  })

  it('has the same figures for any order of lines, and for rewards moved by a constant', async () => {
    const line = fc.record({
      group: fc.integer({ min: 0, max: 3 }),
      reward: fc.integer({ min: 0, max: 4 }),
      generated: fc.integer({ min: 30, max: 9000 }),
      reads: fc.constantFrom([], [{ category: 'oracle', call: 20, identity: 4 }], misleading.reads),
    })
    const sorted = (seed: number) => (a: unknown, b: unknown) => order(a, seed) - order(b, seed)
    const order = (value: unknown, seed: number) =>
      [...JSON.stringify(value)].reduce(
        (sum, character, i) => (sum * 31 + character.charCodeAt(0) * (i + seed)) % 9973,
        seed,
      )
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 24 }),
        fc.integer({ min: 1, max: 99 }),
        async (lines, seed) => {
          const records = lines.map((one) => ({ ...one, task: `task-${one.group % 2}` }))
          const moved = records.map((one) => ({ ...one, reward: one.reward + 8 }))
          const [first, second, third] = [
            await audit(linesOf(records)),
            await audit(linesOf(records.toSorted(sorted(seed)))),
            await audit(linesOf(moved), { successAbove: 8 }),
          ]
          for (const other of [second, third]) {
            expect(other.bins.map((bin) => bin.trajectories)).toEqual(
              first.bins.map((bin) => bin.trajectories),
            )
            for (const [name, value] of Object.entries({
              ...first.overall,
              value: first.overall.value.mean,
            })) {
              const got = { ...other.overall, value: other.overall.value.mean }[name as 'value']
              if (value === null) expect(got, name).toBeNull()
              else expect(got, name).toBeCloseTo(value, 9)
            }
          }
        },
      ),
      { numRuns: 20 },
    )
  }, 60_000)
})
