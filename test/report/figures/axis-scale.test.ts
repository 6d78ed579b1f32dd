import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { axisScale } from '../../../lib/report/figures/axis-scale.js'

const range = [200, 20] as const

describe('axisScale', () => {
  it('begins and ends at round numbers', () => {
    const { ticks, at } = axisScale({ include: [0] }, [38.2, 40.9], range)
    expect(ticks.map((tick) => tick.text)).toEqual(['0', '10', '20', '30', '40', '50'])
    expect([at(0), at(50)]).toEqual([200, 20])
  })

  it('has a step on either side of equal values', () => {
    const { ticks, at } = axisScale({}, [5, 5], range)
    expect(ticks[0]!.value).toBeLessThan(5)
    expect(ticks.at(-1)!.value).toBeGreaterThan(5)
    expect(at(5)).toBeCloseTo(110)
  })

  it('counts in decades on a logarithmic axis, and finer where there are few', () => {
    expect(axisScale({ scale: 'log' }, [0.15, 7], range).ticks.map((t) => t.text)).toEqual([
      '0.1',
      '0.2',
      '0.5',
      '1',
      '2',
      '5',
      '10',
    ])
    expect(axisScale({ scale: 'log' }, [0.0003, 70], range).ticks.map((t) => t.text)).toEqual([
      '0.0001',
      '0.001',
      '0.01',
      '0.1',
      '1',
      '10',
      '100',
    ])
  })

  it('places every value between its ends, in order', () => {
    const values = fc.array(fc.double({ min: -1e12, max: 1e12, noNaN: true }), { maxLength: 20 })
    fc.assert(
      fc.property(values, fc.constantFrom('linear', 'log' as const), (given, scale) => {
        const { at, ticks } = axisScale({ scale }, given, range)
        expect(ticks.length).toBeGreaterThan(0)
        const places = given.toSorted((a, b) => a - b).map(at)
        for (const [i, place] of places.entries()) {
          expect(place).toBeGreaterThanOrEqual(20 - 1e-6)
          expect(place).toBeLessThanOrEqual(200 + 1e-6)
          if (i > 0) expect(place).toBeLessThanOrEqual(places[i - 1]! + 1e-6)
        }
      }),
    )
  })
})
