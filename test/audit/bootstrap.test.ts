import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { meanOverTasks } from '../../lib/audit/bootstrap.js'
import { median, quantile, standardDeviation } from '../../lib/audit/statistics.js'

const options = { resamples: 4000, seed: 0 }
const values = (...list: number[]) => list.map((value, i) => ({ task: `t${i}`, value }))

describe('meanOverTasks', () => {
  it('weighs tasks alike, however many values each has', () => {
    const given = [...values(1), ...Array(9).fill({ task: 'other', value: 0 })]
    expect(meanOverTasks(given, options)).toMatchObject({ mean: 0.5, tasks: 2 })
  })

  it('has no interval from one task, and no mean from none', () => {
    expect(meanOverTasks(values(3), options)).toEqual({ mean: 3, low: null, high: null, tasks: 1 })
    expect(meanOverTasks([], options)).toEqual({ mean: null, low: null, high: null, tasks: 0 })
  })

  it('follows from the seed', () => {
    const given = values(0.1, 0.9, 0.3, -0.4, 0.2)
    expect(meanOverTasks(given, options)).toEqual(meanOverTasks(given, options))
    const seeds = [0, 1, 2, 3].map((seed) => meanOverTasks(given, { resamples: 101, seed }).low)
    expect(new Set(seeds).size).toBeGreaterThan(1)
  })

  it('is as wide as the mean is uncertain', () => {
    // 400 tasks, half 0 and half 1: the mean has standard error 0.025, the interval is 0.5 +- 1.96 * 0.025.
    const { low, high } = meanOverTasks(values(...Array.from({ length: 400 }, (_, i) => i % 2)), options)
    expect(low).toBeCloseTo(0.5 - 1.96 * 0.025, 2)
    expect(high).toBeCloseTo(0.5 + 1.96 * 0.025, 2)
  })

  it('lies between the least and the greatest task', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 2, maxLength: 20 }),
        (list) => {
          const { low, mean, high } = meanOverTasks(values(...list), { resamples: 200, seed: 1 })
          expect(low).toBeGreaterThanOrEqual(Math.min(...list) - 1e-12)
          expect(high).toBeLessThanOrEqual(Math.max(...list) + 1e-12)
          expect(low).toBeLessThanOrEqual(high!)
          expect(mean).toBeCloseTo(list.reduce((a, b) => a + b) / list.length, 12)
        },
      ),
    )
  })
})

describe('statistics', () => {
  it('are exact in small cases', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, null])
    expect([standardDeviation([1, 3]), standardDeviation([1])]).toEqual([Math.SQRT2, null])
    expect([0, 0.25, 0.5, 1].map((q) => quantile(Float64Array.of(0, 10), q))).toEqual([0, 2.5, 5, 10])
  })
})
