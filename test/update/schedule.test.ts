import fc from 'fast-check'
import { expect, test } from 'vitest'
import { learningRateSchedule, SCHEDULES, type ScheduleOptions } from '../../lib/update/schedule.js'

const rates = (options: Omit<ScheduleOptions, 'learningRate'>, steps: number) => {
  const rate = learningRateSchedule({ learningRate: 8, ...options })
  return Array.from({ length: steps }, (_, step) => rate(step))
}

test('constant', () => {
  expect(rates({ kind: 'constant', totalSteps: 3 }, 5)).toEqual([8, 8, 8, 8, 8])
})

test('rises over the warm-up steps and never starts at 0', () => {
  expect(rates({ kind: 'constant', totalSteps: 9, warmupSteps: 4 }, 6)).toEqual([2, 4, 6, 8, 8, 8])
})

test('linear falls to its end and stays there', () => {
  expect(rates({ kind: 'linear', totalSteps: 6, warmupSteps: 2 }, 8)).toEqual([4, 8, 8, 6, 4, 2, 0, 0])
  expect(rates({ kind: 'linear', totalSteps: 4, finalFraction: 0.5 }, 6)).toEqual([8, 7, 6, 5, 4, 4])
})

test('cosine is half way at half time', () => {
  const got = rates({ kind: 'cosine', totalSteps: 4 }, 6)
  const wanted = [8, 4 * (1 + Math.SQRT1_2), 4, 4 * (1 - Math.SQRT1_2), 0, 0]
  for (const [step, rate] of wanted.entries()) expect(got[step]).toBeCloseTo(rate, 12)
})

test('warm-up may be the whole run', () => {
  expect(rates({ kind: 'cosine', totalSteps: 2, warmupSteps: 2 }, 3)).toEqual([4, 8, 0])
})

test('is never above its rate nor below its end, and falls after warm-up', () => {
  const cases = fc.record({
    kind: fc.constantFrom(...SCHEDULES),
    totalSteps: fc.integer({ min: 1, max: 40 }),
    warmup: fc.nat({ max: 40 }),
    finalFraction: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(cases, ({ warmup, ...options }) => {
      const warmupSteps = Math.min(warmup, options.totalSteps)
      const got = rates({ ...options, warmupSteps }, options.totalSteps + 3)
      for (const [step, rate] of got.entries()) {
        expect(rate).toBeLessThanOrEqual(8 + 1e-12)
        if (step < warmupSteps) continue
        expect(rate).toBeGreaterThanOrEqual(8 * options.finalFraction - 1e-12)
        if (step > warmupSteps) expect(rate).toBeLessThanOrEqual(got[step - 1]! + 1e-12)
      }
    }),
  )
})

test.each([
  { kind: 'step' as never, totalSteps: 3 },
  { kind: 'constant' as const, totalSteps: 0 },
  { kind: 'constant' as const, totalSteps: 3, warmupSteps: 4 },
  { kind: 'linear' as const, totalSteps: 3, warmupSteps: 0.5 },
  { kind: 'linear' as const, totalSteps: 3, finalFraction: 2 },
  { kind: 'linear' as const, totalSteps: 3, learningRate: Number.NaN },
])('refuses %o', (options) => {
  expect(() => learningRateSchedule({ learningRate: 1, ...options })).toThrow(/^expected .*, got /)
})
