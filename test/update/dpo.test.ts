import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NativePolicy } from '../../lib/policy/native-policy.js'
import { dpoLoss, dpoSequences, type Pair, turnLogprobs } from '../../lib/update/dpo.js'
import { updatePolicy } from '../../lib/update/update.js'
import { frobenius, goldenFolder, goldenJson, goldenTensors } from '../golden/tensors.js'

interface GoldenPair {
  prompt: number[]
  chosen: number[]
  rejected: number[]
  reference_chosen_logprob: number
  reference_rejected_logprob: number
  chosen_logprob: number
  rejected_logprob: number
  margin: number
  loss: number
}

const json = goldenJson('dpo/golden.json')
const golden: GoldenPair[] = json.pairs
const sequences = golden.flatMap(({ prompt, chosen, rejected }) =>
  [chosen, rejected].map((turn) => ({
    tokens: Int32Array.of(...prompt, ...turn),
    generated: Uint8Array.from([...prompt.map(() => 0), ...turn.map(() => 1)]),
  })),
)
const pairs: Pair[] = golden.map((_, i) => ({ chosen: 2 * i, rejected: 2 * i + 1 }))
const reference = Float64Array.from(
  golden.flatMap((pair) => [pair.reference_chosen_logprob, pair.reference_rejected_logprob]),
)

describe('the golden file', () => {
  test('has our losses and margins, from its log-probabilities', () => {
    const logprob = Float64Array.from(golden.flatMap((pair) => [pair.chosen_logprob, pair.rejected_logprob]))
    const { loss, margins } = dpoLoss(pairs, logprob, reference, json.beta)
    expect(loss).toBeCloseTo(json.loss, 12)
    for (const [i, { margin }] of golden.entries()) expect(margins[i]).toBeCloseTo(margin, 12)
    for (const [i, pair] of golden.entries()) {
      expect(dpoLoss([pairs[i]!], logprob, reference, json.beta).loss).toBeCloseTo(pair.loss, 12)
    }
  })

  test.each([1, 24, 16384])(
    'has the gradients of an update in micro-batches of %i tokens',
    async (microBatchTokens) => {
      const policy = await NativePolicy.load(join(goldenFolder, json.model))
      try {
        const logprob = await turnLogprobs(policy, sequences, { microBatchTokens })
        for (const [i, pair] of golden.entries()) {
          expect(Math.abs(logprob[2 * i]! - pair.chosen_logprob)).toBeLessThanOrEqual(
            5e-5 * pair.chosen.length,
          )
          expect(Math.abs(logprob[2 * i + 1]! - pair.rejected_logprob)).toBeLessThanOrEqual(
            5e-5 * pair.rejected.length,
          )
        }
        const { loss, gradient } = dpoLoss(pairs, logprob, reference, json.beta)
        expect(Math.abs(loss - json.loss)).toBeLessThanOrEqual(1e-5)

        const gradients = new Map<string, Float32Array>()
        const step = policy.step.bind(policy)
        policy.step = async (options) => {
          for (const { name } of policy.parameters) gradients.set(name, await policy.gradient(name))
          return step(options)
        }
        const batch = dpoSequences(sequences, gradient)
        const update = await updatePolicy(policy, null, batch, { microBatchTokens, learningRate: 1e-3 })
        expect(update).toMatchObject({ steps: 1, warnings: [] })
        const tensors = goldenTensors('dpo/golden.safetensors')
        expect([...gradients.keys()].map((name) => `grad.${name}`).sort()).toEqual(tensors.names.sort())
        for (const [name, values] of gradients)
          expect(frobenius(values, tensors.f32(`grad.${name}`)), name).toBeLessThanOrEqual(5e-5)
      } finally {
        policy.dispose()
      }
    },
  )
})

const logprobs = fc.array(fc.double({ min: -300, max: 0, noNaN: true }), { minLength: 4, maxLength: 4 })
const some: Pair[] = [
  { chosen: 0, rejected: 1 },
  { chosen: 0, rejected: 2 },
  { chosen: 3, rejected: 2 },
]

test('a policy that is the reference has loss ln 2 and slope beta / 2 a pair', () => {
  const same = Float64Array.of(-3, -5, -7, -2)
  const { loss, margins, gradient } = dpoLoss(some, same, same, 0.3)
  expect(loss).toBeCloseTo(Math.LN2, 14)
  expect([...margins]).toEqual([0, 0, 0])
  const slope = 0.15 / 3
  for (const [i, g] of [-2 * slope, slope, 2 * slope, -slope].entries())
    expect(gradient[i]).toBeCloseTo(g, 14)
})

test('the gradient is that of the loss, by finite differences', () => {
  fc.assert(
    fc.property(logprobs, logprobs, fc.double({ min: 0.01, max: 1, noNaN: true }), (p, q, beta) => {
      const lossAt = (values: number[]) =>
        dpoLoss(some, Float64Array.from(values), Float64Array.from(q), beta).loss
      const { gradient } = dpoLoss(some, Float64Array.from(p), Float64Array.from(q), beta)
      const h = 1e-4
      for (const i of p.keys()) {
        const moved = (by: number) => p.map((value, j) => (j === i ? value + by : value))
        const difference = (lossAt(moved(h)) - lossAt(moved(-h))) / (2 * h)
        expect(Math.abs(difference - gradient[i]!)).toBeLessThan(1e-6)
      }
    }),
  )
})

test('hopeless and certain pairs have finite losses', () => {
  const far = dpoLoss([some[0]!], Float64Array.of(-1e6, 0), Float64Array.of(0, 0), 0.1)
  expect(far.loss).toBeCloseTo(1e5, 6)
  expect(far.gradient[0]).toBeCloseTo(-0.1, 12)
  const sure = dpoLoss([some[0]!], Float64Array.of(0, -1e6), Float64Array.of(0, 0), 0.1)
  expect([sure.loss, sure.gradient[0]]).toEqual([0, 0])
})
