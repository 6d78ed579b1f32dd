import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { meanOverSeeds, studentT95 } from '../../lib/compare/student-t.js'

describe('the 97.5% quantile of t', () => {
  it.each([
    [1, 12.706],
    [4, 2.776],
    [30, 2.042],
    [31, 2.0395],
    [60, 2.0003],
    [1000, 1.9623],
  ])('with %i degrees of freedom is %f', (degrees, quantile) => {
    expect(studentT95(degrees)).toBeCloseTo(quantile, 3)
  })
})

describe('a mean over seeds', () => {
  it('has the t interval of the textbook', () => {
    // Mean 3, standard deviation sqrt(2.5), n = 5: half width 2.7764 * sqrt(0.5).
    const mean = meanOverSeeds([1, 2, 3, 4, 5])!
    expect(mean).toMatchObject({ value: 3, runs: 5 })
    expect(mean.high! - 3).toBeCloseTo(1.9632, 4)
    expect(3 - mean.low!).toBeCloseTo(1.9632, 4)
  })

  it('of one run has no interval, of none is nothing', () => {
    expect(meanOverSeeds([0.4])).toEqual({ value: 0.4, runs: 1 })
    expect(meanOverSeeds([])).toBeUndefined()
  })

  it('holds the mean and stays within its bounds', () => {
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 12 })
    fc.assert(
      fc.property(shares, (values) => {
        const { value, low, high } = meanOverSeeds(values, [0, 1])!
        expect(low).toBeLessThanOrEqual(value + 1e-12)
        expect(high).toBeGreaterThanOrEqual(value - 1e-12)
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(1)
      }),
    )
  })
})
