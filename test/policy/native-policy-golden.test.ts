import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { diagnose } from '../../lib/addon/doctor.js'
import { NativePolicy, type NativePolicyOptions } from '../../lib/policy/native-policy.js'
import { frobenius, goldenFolder, goldenJson, goldenTensors, sameBits } from '../golden/tensors.js'

const scratch = mkdtempSync(join(tmpdir(), 'skillgate-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const instructionSets = diagnose()
  .instructionSets.filter(({ available }) => available)
  .map(({ name }) => name)

const open: NativePolicy[] = []
async function load(dir: string, options?: NativePolicyOptions) {
  const policy = await NativePolicy.load(dir, options)
  open.push(policy)
  return policy
}
afterEach(() => {
  for (const policy of open.splice(0)) policy.dispose()
})

const gradientsOf = async (policy: NativePolicy) =>
  new Map(
    await Promise.all(
      policy.parameters.map(async ({ name }) => [name, await policy.gradient(name)] as const),
    ),
  )

/** A model of golden/models with the batch of its golden file, in the terms of accumulate. */
function goldenModel(family: string) {
  const golden = goldenTensors(`models/${family}/golden.safetensors`)
  const json = goldenJson(`models/${family}/golden.json`)
  const lengths = golden.i32('sequence_lengths')
  const sequenceOffsets = new Int32Array(lengths.length + 1)
  lengths.forEach((length, i) => {
    sequenceOffsets[i + 1] = sequenceOffsets[i]! + length
  })
  const weight = golden.f32('weight').map((w) => w / json.denominator)
  const batch = {
    tokens: golden.i32('tokens'),
    sequenceOffsets,
    advantage: golden.f32('advantage'),
    weight,
    klWeight: weight,
    behaviourLogprob: golden.f32('old_logprob'),
    referenceLogprob: golden.f32('ref_logprob'),
    clipLow: json.clip_low as number,
    clipHigh: json.clip_high as number,
    klCoefficient: json.kl_coef as number,
  }
  const { lr: learningRate, betas, eps, weight_decay: weightDecay, max_grad_norm: maxGradNorm } = json.adamw
  const step = { learningRate, betas, eps, weightDecay, maxGradNorm }
  return { dir: join(goldenFolder, 'models', family), golden, json, batch, step }
}

describe.each(['llama', 'llama3_rope', 'qwen2', 'qwen3'])('%s', (family) => {
  const { dir, golden, json, batch, step } = goldenModel(family)

  test('is described by its config', async () => {
    const policy = await load(dir)
    expect(policy.device).toBe('cpu')
    expect(policy.vocabularySize).toBe(golden.shape('logits')[1])
    expect(policy.maxContext).toBe(512)
    const gradients = golden.names.filter((name) => name.startsWith('grad.')).map((name) => name.slice(5))
    expect(policy.parameters.map(({ name }) => name).sort()).toEqual(gradients.sort())
    for (const { name, shape } of policy.parameters) expect(shape).toEqual(golden.shape(`grad.${name}`))
  })

  test('has the logprobs and entropies of the golden file', async () => {
    const policy = await load(dir)
    const { logprob, entropy } = await policy.logprobs(batch)
    const wanted = { logprob: golden.f32('logprob'), entropy: golden.f32('entropy') }
    for (let t = 0; t < batch.tokens.length; t++) {
      expect(Math.abs(logprob[t]! - wanted.logprob[t]!)).toBeLessThanOrEqual(5e-5)
      expect(Math.abs(entropy[t]! - wanted.entropy[t]!)).toBeLessThanOrEqual(1e-4)
    }
  })

  // The gradient of a bias of k is all cancellation, and AdamW makes large steps of small gradients: each instruction
  // set and both ways to split attention's backward pass have to hold.
  test.each([
    { recompute: false, sharePrefixes: true },
    { recompute: true, sharePrefixes: false },
    ...instructionSets.flatMap((instructionSet) => [1, 3].map((threads) => ({ instructionSet, threads }))),
  ])('has its loss, gradients and three steps with %o', async (options) => {
    const policy = await load(dir, options)
    for (let i = 0; i < 3; i++) {
      const { loss, klLoss, clipped } = await policy.accumulate(batch)
      expect(Math.abs(loss - json.step_losses[i])).toBeLessThanOrEqual(1e-5)
      expect(clipped.every((c, t) => c === 0 || batch.weight[t] !== 0)).toBe(true)
      if (i === 0) {
        expect(Math.abs(klLoss - json.loss_kl)).toBeLessThanOrEqual(1e-5)
        for (const [name, gradient] of await gradientsOf(policy)) {
          expect(frobenius(gradient, golden.f32(`grad.${name}`)), name).toBeLessThanOrEqual(5e-5)
        }
      }
      const { gradNorm, skipped } = await policy.step(step)
      expect(skipped).toBe(false)
      if (i === 0) expect(Math.abs(gradNorm - json.grad_norm)).toBeLessThanOrEqual(1e-4 * json.grad_norm)
    }
    expect(policy.version).toBe(3)
    for (const { name } of policy.parameters) {
      const after = await policy.parameter(name)
      expect(frobenius(after, golden.f32(`after3.${name}`)), name).toBeLessThanOrEqual(2e-5)
    }
  })

  test('continues the first sequence greedily, in one request or with others, with the logprobs of logprobs()', async () => {
    const policy = await load(dir, { threads: 2 })
    const wanted = golden.i32('greedy')
    const prompt = batch.tokens.slice(0, batch.sequenceOffsets[1])
    const request = { tokens: prompt, maxTokens: 24, temperature: 0 }
    const alone = await policy.generate(request)
    expect(alone.finishReason).toBe('length')
    expect([...prompt, ...alone.tokens]).toEqual([...wanted])
    const others = Array.from({ length: 5 }, (_, seed) =>
      policy.generate({ tokens: prompt.slice(0, 3 + seed), maxTokens: 40, seed }),
    )
    const together = await policy.generate(request)
    await Promise.all(others)
    expect(together.tokens).toEqual(alone.tokens)
    expect(sameBits(together.logprobs, alone.logprobs)).toBe(true)
    const { logprob } = await policy.logprobs({
      tokens: wanted,
      sequenceOffsets: Int32Array.of(0, wanted.length),
    })
    expect(sameBits(logprob.slice(prompt.length), alone.logprobs)).toBe(true)
  })

  test('samples the same tokens from the same seed, with the logprobs of logprobs() at that temperature', async () => {
    const policy = await load(dir, { threads: 2 })
    const single = await load(dir, { threads: 1, prefillChunk: 3 })
    const tokens = batch.tokens.slice(0, 11)
    const request = {
      tokens,
      maxTokens: 30,
      temperature: 0.7,
      topP: 0.9,
      topK: 20,
      minP: 0.01,
      seed: 2n ** 63n,
    }
    const [a, b, c] = await Promise.all([
      policy.generate(request),
      policy.generate({ ...request, seed: 7 }),
      single.generate(request),
    ])
    expect(c.tokens).toEqual(a.tokens)
    expect(sameBits(c.logprobs, a.logprobs)).toBe(true)
    expect(b.tokens).not.toEqual(a.tokens)
    const whole = Int32Array.of(...tokens, ...a.tokens)
    for (const scorer of [policy, single]) {
      const { logprob } = await scorer.logprobs({
        tokens: whole,
        sequenceOffsets: Int32Array.of(0, whole.length),
        temperature: 0.7,
      })
      expect(sameBits(logprob.slice(tokens.length), a.logprobs)).toBe(true)
    }
  })

  test('an on-policy update has ratio 1 exactly: loss is minus the sum of weight times advantage', async () => {
    const policy = await load(dir)
    const { logprob } = await policy.logprobs(batch)
    const own = await policy.accumulate({ ...batch, behaviourLogprob: logprob, klCoefficient: 0 })
    await policy.zeroGradients()
    const absent = await policy.accumulate({ ...batch, behaviourLogprob: undefined, klCoefficient: 0 })
    const sum = batch.weight.reduce((s, w, t) => s - w * batch.advantage[t]!, 0)
    expect(own.loss).toBeCloseTo(sum, 12)
    expect(absent.loss).toBe(own.loss)
    for (let t = 0; t < logprob.length; t++) {
      if (batch.weight[t] !== 0) expect(own.logprob[t]).toBe(logprob[t])
    }
  })

  test('any split into calls gives the same gradients', async () => {
    const policy = await load(dir)
    await policy.accumulate(batch)
    const whole = await gradientsOf(policy)
    await policy.zeroGradients()
    for (let s = 0; s + 1 < batch.sequenceOffsets.length; s++) {
      const [start, end] = [batch.sequenceOffsets[s]!, batch.sequenceOffsets[s + 1]!]
      const part = <T extends Float32Array | Int32Array>(array: T) => array.slice(start, end) as T
      await policy.accumulate({
        ...batch,
        tokens: part(batch.tokens),
        sequenceOffsets: Int32Array.of(0, end - start),
        advantage: part(batch.advantage),
        weight: part(batch.weight),
        klWeight: part(batch.klWeight),
        behaviourLogprob: part(batch.behaviourLogprob),
        referenceLogprob: part(batch.referenceLogprob),
      })
    }
    for (const [name, gradient] of await gradientsOf(policy)) {
      expect(frobenius(gradient, whole.get(name)!), name).toBeLessThanOrEqual(1e-6)
    }
  })

  test('fields of tokens without weight may hold anything', async () => {
    const policy = await load(dir)
    const clean = await policy.accumulate(batch)
    const gradients = await gradientsOf(policy)
    for (const poison of [Number.NaN, Infinity, -Infinity, 200, -200]) {
      const poisoned = (array: Float32Array) => array.map((x, t) => (batch.weight[t] === 0 ? poison : x))
      await policy.zeroGradients()
      const result = await policy.accumulate({
        ...batch,
        advantage: poisoned(batch.advantage),
        behaviourLogprob: poisoned(batch.behaviourLogprob),
        referenceLogprob: poisoned(batch.referenceLogprob),
      })
      expect(result.loss).toBe(clean.loss)
      for (const [name, gradient] of await gradientsOf(policy)) {
        expect(sameBits(gradient, gradients.get(name)!), `${name} with ${poison}`).toBe(true)
      }
    }
  })

  test('saved and loaded again it goes on bit for bit', async () => {
    const first = await load(dir)
    await first.accumulate(batch)
    await first.step(step)
    await first.save(join(scratch, family))
    await first.saveOptimizer(join(scratch, `${family}.optimizer`))
    const second = await load(join(scratch, family), { threads: 1 })
    await second.loadOptimizer(join(scratch, `${family}.optimizer`))
    expect(second.version).toBe(1)
    for (const policy of [first, second]) {
      await policy.accumulate(batch)
      await policy.step(step)
    }
    for (const { name } of first.parameters) {
      expect(sameBits(await first.parameter(name), await second.parameter(name)), name).toBe(true)
    }
  })
})
