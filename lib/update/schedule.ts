import { SkillgateError } from '../errors.js'

export const SCHEDULES = ['constant', 'linear', 'cosine'] as const

export interface ScheduleOptions {
  kind: (typeof SCHEDULES)[number]
  /** The rate after warm-up, before any decay. */
  learningRate: number
  /** Steps over which the rate rises in a straight line from learningRate/warmupSteps; 0: none. */
  warmupSteps?: number
  /** Steps of the whole run, warm-up included. */
  totalSteps: number
  /** The rate at the end, as a fraction of `learningRate`, in [0, 1]; linear and cosine only. Default 0. */
  finalFraction?: number
}

/**
 * The learning rate of each step, 0-based. With w warm-up steps, n steps in all and p = (step - w) / (n - w):
 *   step < w: lr * (step + 1) / w;  constant: lr;  linear: lr * (f + (1 - f) * (1 - p));
 *   cosine: lr * (f + (1 - f) * (1 + cos(pi p)) / 2).  Beyond the last step the rate stays at its end.
 */
export function learningRateSchedule(options: ScheduleOptions): (step: number) => number {
  const { kind, learningRate, warmupSteps = 0, totalSteps, finalFraction = 0 } = options
  const expect = (ok: boolean, what: string, got: unknown) => {
    if (!ok) throw new SkillgateError('ERR_INVALID_OPTION', `expected ${what}, got ${String(got)}`)
  }
  expect(SCHEDULES.includes(kind), `a schedule (${SCHEDULES.join(', ')}) for kind`, kind)
  expect(
    Number.isFinite(learningRate) && learningRate >= 0,
    'a number of at least 0 for learningRate',
    learningRate,
  )
  expect(
    Number.isSafeInteger(totalSteps) && totalSteps >= 1,
    'an integer of at least 1 for totalSteps',
    totalSteps,
  )
  expect(
    Number.isSafeInteger(warmupSteps) && warmupSteps >= 0 && warmupSteps <= totalSteps,
    `an integer in 0..${totalSteps} (totalSteps) for warmupSteps`,
    warmupSteps,
  )
  expect(finalFraction >= 0 && finalFraction <= 1, 'a number in [0, 1] for finalFraction', finalFraction)
  return (step) => {
    if (step < warmupSteps) return (learningRate * (step + 1)) / warmupSteps
    if (kind === 'constant') return learningRate
    const span = totalSteps - warmupSteps
    const progress = span === 0 ? 1 : Math.min(1, (step - warmupSteps) / span)
    const left = kind === 'linear' ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2
    return learningRate * (finalFraction + (1 - finalFraction) * left)
  }
}
