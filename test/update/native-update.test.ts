import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { NativePolicy } from '../../lib/policy/native-policy.js'
import type { TrainSequence } from '../../lib/update/pack.js'
import { type UpdateOptions, updatePolicy } from '../../lib/update/update.js'

const model = fileURLToPath(new URL('../fixtures/golden/models/qwen3', import.meta.url))
const opened: NativePolicy[] = []
async function load(trainable = true): Promise<NativePolicy> {
  const policy = await NativePolicy.load(model, { trainable, threads: 1 })
  opened.push(policy)
  return policy
}
afterEach(() => {
  for (const policy of opened.splice(0)) policy.dispose()
})

const options: UpdateOptions = { learningRate: 1e-3, microBatchTokens: 24, temperature: 0.9 }

/** Groups of sampled sequences: each shares its prompt and has tokens of both channels' signs. */
async function sample(policy: NativePolicy): Promise<TrainSequence[]> {
  const requests = Array.from({ length: 6 }, async (_, i) => {
    const prompt = Int32Array.from({ length: 12 }, (_, t) => (7 * t + 31 * (i >> 1)) % 113)
    const { tokens, logprobs } = await policy.generate({
      tokens: prompt,
      maxTokens: 6 + i,
      temperature: 0.9,
      seed: i,
    })
    const n = prompt.length + tokens.length
    const place = <A extends Int32Array | Float32Array>(to: A, from: A) => {
      to.set(from, prompt.length)
      return to
    }
    return {
      tokens: place(
        Int32Array.from({ length: n }, (_, t) => prompt[t] ?? 0),
        tokens,
      ),
      weight: place(new Float32Array(n), new Float32Array(tokens.length).fill(1 / 51)),
      klWeight: place(new Float32Array(n), new Float32Array(tokens.length).fill(1 / 51)),
      advantage: Float32Array.from({ length: n }, (_, t) => ((t + i) % 3) - 0.8),
      behaviourLogprob: place(new Float32Array(n), logprobs),
    }
  })
  return Promise.all(requests)
}

async function parametersOf(policy: NativePolicy): Promise<Float32Array[]> {
  return Promise.all(policy.parameters.map(({ name }) => policy.parameter(name)))
}

/** |a - b| / |b| over all parameters' changes since `from`. */
function distance(a: Float32Array[], b: Float32Array[], from: Float32Array[]): number {
  let apart = 0
  let size = 0
  for (const [p, values] of b.entries()) {
    for (const [i, value] of values.entries()) {
      apart += (a[p]![i]! - value) ** 2
      size += (value - from[p]![i]!) ** 2
    }
  }
  return Math.sqrt(apart / size)
}

test('on policy every ratio is exactly 1, and a step changes the weights', async () => {
  const policy = await load()
  const before = await parametersOf(policy)
  const result = await updatePolicy(policy, null, await sample(policy), options)
  expect(result).toMatchObject({ maxLogRatio: 0, clippedFraction: 0, steps: 1, warnings: [], tokens: 51 })
  expect(result.entropy).toBeGreaterThan(0)
  expect(policy.version).toBe(1)
  expect(
    distance(
      await parametersOf(policy),
      before,
      before.map((p) => new Float32Array(p.length)),
    ),
  ).toBeGreaterThan(0)
})

test('any split into micro-batches comes to the same loss, norm and weights', async () => {
  const reference = await load(false)
  const runs = []
  let sequences: TrainSequence[] | undefined
  let start: Float32Array[] | undefined
  for (const microBatchTokens of [10_000, 40, 1]) {
    const policy = await load()
    start ??= await parametersOf(policy)
    sequences ??= await sample(policy)
    const result = await updatePolicy(policy, reference, sequences, {
      ...options,
      ...{ microBatchTokens, klCoefficient: 0.1, passes: 2, eps: 1e-2 },
    })
    runs.push({ result, parameters: await parametersOf(policy) })
  }
  const [whole, ...splits] = runs
  expect(whole!.result.microBatches).toBe(1)
  expect(whole!.result.passes[1]!.klLoss).toBeGreaterThan(0)
  for (const { result, parameters } of splits) {
    expect(result.microBatches).toBeGreaterThan(1)
    for (const [i, pass] of result.passes.entries()) {
      const wanted = whole!.result.passes[i]!
      for (const field of ['loss', 'klLoss', 'gradNorm'] as const)
        expect(Math.abs(pass[field] - wanted[field])).toBeLessThan(
          1e-5 * Math.max(1e-2, Math.abs(wanted[field])),
        )
    }
    expect(distance(parameters, whole!.parameters, start!)).toBeLessThan(1e-5)
  }
})

test('an aborted update leaves the weights and no gradient behind', async () => {
  const policy = await load()
  const before = await parametersOf(policy)
  const sequences = await sample(policy)
  const stop = new AbortController()
  const accumulate = policy.accumulate.bind(policy)
  policy.accumulate = async (request) => {
    const result = await accumulate(request)
    stop.abort()
    return result
  }
  await expect(
    updatePolicy(policy, null, sequences, { ...options, signal: stop.signal }),
  ).rejects.toMatchObject({
    code: 'ERR_ABORTED',
  })
  expect(await parametersOf(policy)).toEqual(before)
  for (const { name } of policy.parameters)
    expect((await policy.gradient(name)).every((g) => g === 0)).toBe(true)
})
