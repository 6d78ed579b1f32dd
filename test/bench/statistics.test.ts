import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quantile, ratios, spread } from '../../bench/statistics.js'

describe('quantile', () => {
  it('lies between its neighbours', () => {
    expect(quantile([3, 1, 2], 0.5)).toBe(2)
    expect(quantile([4, 1, 2, 3], 0.5)).toBe(2.5)
    expect(quantile([0, 10], 0.25)).toBe(2.5)
    expect([quantile([5, 1, 9], 0), quantile([5, 1, 9], 1)]).toEqual([1, 9])
  })

  it('does not depend on the order and grows with the share', () => {
    const samples = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), { minLength: 1 })
    fc.assert(
      fc.property(samples, (values) => {
        const { low, median, high } = spread(values)
        expect(spread([...values].reverse())).toEqual({ low, median, high })
        expect(Math.min(...values)).toBeLessThanOrEqual(low)
        expect(low).toBeLessThanOrEqual(median)
        expect(median).toBeLessThanOrEqual(high)
        expect(high).toBeLessThanOrEqual(Math.max(...values))
      }),
    )
  })
})

describe('ratios', () => {
  it('compares round by round', () => {
    // The machine was ten times slower in the second round: the ratio stays.
    expect(ratios([2, 20, 4], [1, 10, 2])).toEqual([2, 2, 2])
  })
})
