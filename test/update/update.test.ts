import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import type { SkillgateError } from '../../lib/errors.js'
import type { TrainSequence } from '../../lib/update/pack.js'
import { type UpdateOptions, updatePolicy } from '../../lib/update/update.js'
import { logprobOf, RecordingPolicy } from './recording-policy.js'

let model: RecordingPolicy
let reference: RecordingPolicy
beforeEach(() => {
  model = new RecordingPolicy()
  reference = new RecordingPolicy()
  reference.version = 5
})

const options: UpdateOptions = { learningRate: 0.1, microBatchTokens: 8 }
/** Three prompt tokens, then sampled ones whose behaviour logprobs are those of the unchanged weights. */
function sampled(first: number, advantage: number, length = 6): TrainSequence {
  const tokens = Int32Array.from({ length }, (_, t) => first + t)
  const weight = Float32Array.from(tokens, (_, t) => (t < 3 ? 0 : 1 / 16))
  return {
    tokens,
    weight,
    klWeight: weight.slice(),
    advantage: new Float32Array(length).fill(advantage),
    behaviourLogprob: Float32Array.from(tokens, (token, t) => logprobOf(token, t, 0)),
  }
}
const batch = () => [sampled(10, 1), sampled(20, -1), sampled(30, 0.5), sampled(40, -0.5)]
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('the update went through'),
    (cause: SkillgateError) => cause,
  )

test('accumulates every micro-batch, then takes one step', async () => {
  const result = await updatePolicy(model.policy, null, batch(), options)
  expect(model.calls).toEqual(['accumulate', 'accumulate', 'accumulate', 'accumulate', 'step'])
  expect(result).toMatchObject({
    ...{ loss: 0, klLoss: 0, gradNorm: 0.75, skipped: false, steps: 1, skippedSteps: 0, microBatches: 4 },
    ...{ clippedFraction: 0, entropy: 2, maxLogRatio: 0, tokens: 12, warnings: [] },
  })
  expect(result.passes).toHaveLength(1)
})

test('any split sums to the same loss, KL and gradient', async () => {
  const whole = await updatePolicy(model.policy, reference.policy, batch(), {
    ...options,
    klCoefficient: 0.5,
    microBatchTokens: 1000,
  })
  expect(whole.microBatches).toBe(1)
  expect(whole.klLoss).not.toBe(0)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 30 }), async (microBatchTokens) => {
      const other = new RecordingPolicy()
      const split = await updatePolicy(other.policy, reference.policy, batch(), {
        ...options,
        klCoefficient: 0.5,
        microBatchTokens,
      })
      for (const field of ['loss', 'klLoss', 'gradNorm', 'entropy'] as const)
        expect(split[field]).toBeCloseTo(whole[field], 12)
    }),
  )
})

test('later passes keep the behaviour logprobs of the sampling and report the ratio', async () => {
  const result = await updatePolicy(model.policy, reference.policy, batch(), {
    ...options,
    klCoefficient: 0.1,
    passes: 3,
    microBatchTokens: 100,
  })
  expect(model.calls).toEqual(['accumulate', 'step', 'accumulate', 'step', 'accumulate', 'step'])
  expect(reference.calls).toEqual(['logprobs'])
  for (const request of model.requests)
    expect(request.behaviourLogprob).toEqual(model.requests[0]!.behaviourLogprob)
  expect(result.passes.map((pass) => pass.maxLogRatio > 0)).toEqual([false, true, true])
  expect(result.passes[1]!.clippedFraction).toBeGreaterThan(0)
  expect(result).toMatchObject({
    steps: 3,
    maxLogRatio: Math.max(...result.passes.map((p) => p.maxLogRatio)),
  })
})

test('the reference is asked for the temperature of the loss, and only where it counts', async () => {
  const temperatures: unknown[] = []
  reference.logprobs = async (request) => {
    temperatures.push((request as { temperature?: number }).temperature)
    return {
      logprob: new Float32Array(request.tokens.length),
      entropy: new Float32Array(request.tokens.length),
    }
  }
  await updatePolicy(model.policy, reference.policy, batch(), options)
  expect(temperatures).toEqual([])
  expect(model.requests.every((request) => !request.klWeight!.some((w) => w !== 0))).toBe(true)
  await updatePolicy(model.policy, reference.policy, batch().slice(1, 2), {
    ...options,
    klCoefficient: 1,
    temperature: 0.7,
  })
  expect(temperatures).toEqual([0.7])
  expect(model.requests.at(-1)!.temperature).toBe(0.7)
})

test('without behaviour logprobs every ratio is 1', async () => {
  const plain = batch().map((s) => ({ ...s, behaviourLogprob: undefined }))
  const result = await updatePolicy(model.policy, null, plain, options)
  expect(model.requests[0]!.behaviourLogprob).toBeUndefined()
  expect(result.maxLogRatio).toBe(0)
})

test('all weights 0: loss 0, no step, a warning', async () => {
  const masked = batch().map((s) => ({ ...s, weight: new Float32Array(6), klWeight: undefined }))
  const result = await updatePolicy(model.policy, null, masked, options)
  expect(model.calls).toEqual([])
  expect(result).toMatchObject({ loss: 0, steps: 0, tokens: 0, microBatches: 0, passes: [] })
  expect(result.warnings).toEqual([expect.stringMatching(/every weight is 0/)])
})

test.each([
  ['no sequence', []],
  ['only empty sequences', [sampled(1, 1, 0)]],
])('%s is an error', async (_, sequences) => {
  expect((await errorOf(updatePolicy(model.policy, null, sequences, options))).code).toBe('ERR_EMPTY_UPDATE')
})

test.each([
  ['weight', Number.NaN],
  ['weight', Number.POSITIVE_INFINITY],
  ['advantage', Number.NaN],
  ['behaviourLogprob', Number.NEGATIVE_INFINITY],
] as const)('%s %d of a weighted token: its place, no step', async (field, value) => {
  const sequences = batch()
  sequences[2]![field]![4] = value
  const result = await updatePolicy(model.policy, null, sequences, options)
  expect(model.calls).toEqual([])
  expect(result).toMatchObject({ steps: 0, skippedSteps: 1, skipped: true })
  expect(result.warnings[0]).toContain(`${field} at token 4 of sequence 2 is ${value}`)
})

test('what tokens without weight hold changes nothing', async () => {
  const clean = await updatePolicy(model.policy, reference.policy, batch(), { ...options, klCoefficient: 1 })
  const poisoned = batch()
  for (const s of poisoned) {
    s.advantage.fill(Number.NaN, 0, 3)
    s.behaviourLogprob!.fill(Number.POSITIVE_INFINITY, 0, 3)
  }
  const other = new RecordingPolicy()
  expect(
    await updatePolicy(other.policy, reference.policy, poisoned, { ...options, klCoefficient: 1 }),
  ).toEqual(clean)
})

test('a result that is not finite clears the gradients, is named and counted', async () => {
  model.edit = (result, call) => {
    if (call === 1) result.logprob[4] = Number.NaN
    return call === 1 ? { ...result, loss: Number.NaN } : result
  }
  const result = await updatePolicy(model.policy, null, batch(), { ...options, passes: 2 })
  expect(model.calls.slice(0, 4)).toEqual(['accumulate', 'accumulate', 'zeroGradients', 'accumulate'])
  expect(model.calls.filter((call) => call === 'step')).toHaveLength(1)
  expect(result).toMatchObject({ steps: 1, skippedSteps: 1 })
  expect(result.warnings).toEqual(['logprob at token 4 of sequence 1 is NaN: no optimizer step'])
})

test('a loss or reference that is not finite is named too', async () => {
  model.edit = (result) => ({ ...result, loss: Number.POSITIVE_INFINITY })
  expect((await updatePolicy(model.policy, null, batch(), options)).warnings[0]).toMatch(
    /loss of sequences 0 is Inf/,
  )
  model.edit = (result) => result
  reference.logprobs = async ({ tokens }) => ({
    logprob: new Float32Array(tokens.length).fill(Number.NaN),
    entropy: new Float32Array(tokens.length),
  })
  const result = await updatePolicy(model.policy, reference.policy, batch(), { ...options, klCoefficient: 1 })
  expect(result.warnings[0]).toMatch(/reference logprob at token 3 of sequence 0 is NaN/)
})

test('a norm that is not finite is counted', async () => {
  model.nextStep = { gradNorm: Number.POSITIVE_INFINITY, skipped: true }
  const result = await updatePolicy(model.policy, null, batch(), options)
  expect(result).toMatchObject({ steps: 0, skippedSteps: 1, gradNorm: Number.POSITIVE_INFINITY })
  expect(result.warnings).toEqual(['the gradient norm is Infinity: no optimizer step'])
})

test('an abort between micro-batches leaves no gradient behind', async () => {
  const controller = new AbortController()
  model.edit = (result, call) => {
    if (call === 1) controller.abort()
    return result
  }
  const error = await errorOf(
    updatePolicy(model.policy, null, batch(), { ...options, signal: controller.signal }),
  )
  expect(error.code).toBe('ERR_ABORTED')
  expect(model.calls).toEqual(['accumulate', 'accumulate', 'zeroGradients'])
})

test('an error of the policy comes through, gradients cleared', async () => {
  model.edit = () => {
    throw new RangeError('out of memory')
  }
  expect(await errorOf(updatePolicy(model.policy, null, batch(), options))).toBeInstanceOf(RangeError)
  expect(model.calls.at(-1)).toBe('zeroGradients')
})

test.each<[Partial<UpdateOptions>, RegExp]>([
  [{ temperature: 0 }, /above 0 for the training temperature .*got 0/],
  [{ temperature: Number.NaN }, /training temperature/],
  [{ passes: 0 }, /passes, got 0/],
  [{ klCoefficient: -1 }, /klCoefficient, got -1/],
  [{ klCoefficient: 0.1 }, /reference policy for klCoefficient 0.1, got null/],
  [{ microBatchTokens: 0 }, /microBatchTokens, got 0/],
])('refuses %o', async (bad, message) => {
  expect((await errorOf(updatePolicy(model.policy, null, batch(), { ...options, ...bad }))).message).toMatch(
    message,
  )
  expect(model.calls).toEqual([])
})
