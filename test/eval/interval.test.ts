import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changeOverTasks, estimateOverTasks, type TaskSum, wilson } from '../../lib/eval/interval.js'

describe('wilson', () => {
  // Worked by hand from (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n), z = 1.959964.
  it.each([
    [0.5, 10, 0.236593, 0.763407],
    [0, 10, 0, 0.277533],
    [1, 10, 0.722467, 1],
    [0.1, 100, 0.055229, 0.174366],
  ])('of %d in %d', (p, n, low, high) => {
    const interval = wilson(p, n)
    expect(interval.low).toBeCloseTo(low, 5)
    expect(interval.high).toBeCloseTo(high, 5)
  })
})

const one = (sum: number): TaskSum => ({ sum, count: 1 })

describe('estimateOverTasks', () => {
  it('weighs trials, not tasks: 3 of 1 and 7 of 2 give 1.7', () => {
    const tasks = [
      { sum: 3, count: 3 },
      { sum: 14, count: 7 },
    ]
    expect(estimateOverTasks(tasks, { proportion: false })!.value).toBeCloseTo(1.7, 12)
  })
  it('has the ends of the binomial where tasks have one trial each', () => {
    // 40 of 100: the resampled count is binomial(100, 0.4); its 2.5% and 97.5% points are 31 and 50 (known tables: 0.30 to 0.50).
    const tasks = Array.from({ length: 100 }, (_, i) => one(i < 40 ? 1 : 0))
    const { value, low, high } = estimateOverTasks(tasks, { proportion: true })!
    expect(value).toBe(0.4)
    expect(low).toBeGreaterThanOrEqual(0.3)
    expect(low).toBeLessThanOrEqual(0.31)
    expect(high).toBeGreaterThanOrEqual(0.49)
    expect(high).toBeLessThanOrEqual(0.5)
  })
  it('is as wide for 8 equal trials a task as for 1: trials of a task are not independent', () => {
    const few = Array.from({ length: 50 }, (_, i) => one(i % 2))
    const many = few.map(({ sum }) => ({ sum: 8 * sum, count: 8 }))
    expect(estimateOverTasks(many, { proportion: true })).toEqual(
      estimateOverTasks(few, { proportion: true }),
    )
  })
  it("of tasks that all agree is Wilson's, never a point", () => {
    const none = Array.from({ length: 10 }, () => ({ sum: 0, count: 4 }))
    expect(estimateOverTasks(none, { proportion: true })).toEqual(wilson(0, 10))
    expect(estimateOverTasks([one(2), one(2)], { proportion: false })).toEqual({ value: 2, low: 2, high: 2 })
  })
  it('leaves out tasks that count nothing; nothing at all is undefined', () => {
    const nothing = { sum: 0, count: 0 }
    expect(estimateOverTasks([nothing, one(1), nothing], { proportion: true })).toEqual(wilson(1, 1))
    expect(estimateOverTasks([nothing], { proportion: true })).toBeUndefined()
    expect(estimateOverTasks([], { proportion: true })).toBeUndefined()
  })
  it('holds its value between its ends, and repeats', () => {
    const task = fc
      .integer({ min: 1, max: 6 })
      .chain((count) => fc.record({ sum: fc.integer({ min: 0, max: count }), count: fc.constant(count) }))
    fc.assert(
      fc.property(fc.array(task, { minLength: 1, maxLength: 12 }), (tasks) => {
        const estimate = estimateOverTasks(tasks, { proportion: true })!
        expect(estimate.low).toBeLessThanOrEqual(estimate.value + 1e-12)
        expect(estimate.high).toBeGreaterThanOrEqual(estimate.value - 1e-12)
        expect(estimate.low).toBeGreaterThanOrEqual(0)
        expect(estimate.high).toBeLessThanOrEqual(1)
        expect(estimateOverTasks(tasks, { proportion: true })).toEqual(estimate)
      }),
      { numRuns: 25 },
    )
  })
})

describe('changeOverTasks', () => {
  const tasks = (values: number[]) => new Map(values.map((value, i) => [`t${i}`, one(value)]))
  it('keeps a task together with itself: a change that is the same in each task has no width', () => {
    const before = tasks([0, 1, 2, 3])
    const after = tasks([1, 2, 3, 4])
    expect(changeOverTasks(before, after)).toEqual({ value: 1, low: 1, high: 1 })
  })
  it('is over the tasks both have', () => {
    expect(changeOverTasks(tasks([0, 0]), tasks([1, 1, 0, 0]))!.value).toBe(1)
    expect(changeOverTasks(tasks([]), tasks([1]))).toBeUndefined()
  })
  it('is 0 within its ends for the same evaluation', () => {
    const same = tasks([0, 1, 1, 0, 1])
    expect(changeOverTasks(same, same)).toEqual({ value: 0, low: 0, high: 0 })
  })
})
