import { describe, expect, test } from 'vitest'
import { sameBits } from '../golden/tensors.js'
import { batch, codeOf, load, packed, prompt, T } from './golden-policy.js'

describe('abort', () => {
  test('an aborted request comes back with the tokens it has', async () => {
    const policy = await load()
    const controller = new AbortController()
    const requests = Array.from({ length: 20 }, (_, seed) =>
      policy.generate({ tokens: prompt, maxTokens: 500, seed, signal: controller.signal }),
    )
    const other = policy.generate({ tokens: prompt, maxTokens: 30 })
    await policy.logprobs(packed)
    controller.abort()
    for (const { finishReason, tokens, logprobs } of await Promise.all(requests)) {
      expect(finishReason).toBe('aborted')
      expect(tokens.length).toBeLessThan(500)
      expect(logprobs.length).toBe(tokens.length)
    }
    expect((await other).finishReason).toBe('length')
  })

  test('an aborted call of another kind fails with ERR_ABORTED, queued or running; the rest goes on', async () => {
    const policy = await load()
    const controller = new AbortController()
    const { signal } = controller
    const calls = Array.from({ length: 50 }, () => policy.logprobs({ ...packed, signal }))
    const other = policy.logprobs(packed)
    controller.abort(new Error('enough'))
    const codes = await Promise.all(calls.map(codeOf))
    expect(codes.slice(-10)).toEqual(Array.from({ length: 10 }, () => 'ERR_ABORTED'))
    expect(codes.every((code) => code === 'ERR_ABORTED' || code === 'resolved')).toBe(true)
    expect((await other).logprob.length).toBe(T)
  })

  test('one signal may serve any number of calls, without a warning', async () => {
    const policy = await load()
    const warnings: string[] = []
    const note = (warning: Error) => warnings.push(warning.message)
    process.on('warning', note)
    const { signal } = new AbortController()
    await Promise.all(
      Array.from({ length: 30 }, () => policy.generate({ tokens: prompt, maxTokens: 2, signal })),
    )
    await new Promise(setImmediate)
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('a signal that was aborted before counts too', async () => {
    const policy = await load()
    const signal = AbortSignal.abort()
    expect((await policy.generate({ tokens: prompt, maxTokens: 500, signal })).finishReason).toBe('aborted')
    expect(['ERR_ABORTED', 'resolved']).toContain(await codeOf(policy.logprobs({ ...packed, signal })))
  })

  test('after an accumulate that did not finish no step is taken until the gradients are cleared', async () => {
    const policy = await load({ recompute: true })
    const big = {
      ...batch,
      tokens: Int32Array.from({ length: 100 * 500 }, (_, t) => t % 113),
      sequenceOffsets: Int32Array.from({ length: 101 }, (_, s) => s * 500),
      advantage: new Float32Array(100 * 500).fill(1),
      weight: Float32Array.from({ length: 100 * 500 }, (_, t) => (t % 500 === 0 ? 0 : 1e-5)),
    }
    const controller = new AbortController()
    const accumulated = policy.accumulate({ ...big, signal: controller.signal })
    setTimeout(() => controller.abort(), 20)
    expect(await codeOf(accumulated)).toBe('ERR_ABORTED')
    expect(await codeOf(policy.step({ learningRate: 0.1 }))).toBe('ERR_PARTIAL_GRADIENTS')
    expect(policy.version).toBe(0)
    await policy.zeroGradients()
    await policy.accumulate(batch)
    const gradient = await policy.gradient('model.norm.weight')
    const fresh = await load({ recompute: true })
    await fresh.accumulate(batch)
    expect(sameBits(gradient, await fresh.gradient('model.norm.weight'))).toBe(true)
    expect((await policy.step({ learningRate: 0.1 })).skipped).toBe(false)
  })

  test('an update that does not fit is refused with what it needs, and the policy goes on', async () => {
    const policy = await load({ memoryLimit: 2 ** 20 })
    const roomy = await load()
    const refused = policy.accumulate(batch)
    expect(await codeOf(refused)).toBe('ERR_OUT_OF_MEMORY')
    await expect(refused).rejects.toThrow(/needs \d+ MiB more .*microBatchTokens.*memoryLimit is 1 MiB/)
    expect(await codeOf(policy.step({ learningRate: 0.1 }))).toBe('ERR_PARTIAL_GRADIENTS')
    const request = { tokens: prompt, maxTokens: 5, temperature: 0 }
    expect((await policy.generate(request)).tokens).toEqual((await roomy.generate(request)).tokens)
  })

  test('generation of a trained policy may read bf16 weights; its scores do not', async () => {
    const [f32, bf16] = await Promise.all([load(), load({ weights: 'bf16' })])
    expect(sameBits((await bf16.logprobs(packed)).logprob, (await f32.logprobs(packed)).logprob)).toBe(true)
    const request = { tokens: prompt, maxTokens: 5, temperature: 0 }
    const [a, b] = [await f32.generate(request), await bf16.generate(request)]
    expect(sameBits(a.logprobs, b.logprobs)).toBe(false)
    expect(Math.max(...a.logprobs.map((x, i) => Math.abs(x - b.logprobs[i]!)))).toBeLessThan(0.2)
    const scorer = await load({ weights: 'bf16', trainable: false })
    expect(sameBits((await scorer.logprobs(packed)).logprob, (await f32.logprobs(packed)).logprob)).toBe(
      false,
    )
  })

  test('logprobs of wanted tokens alone are those of all', async () => {
    const policy = await load()
    const all = (await policy.logprobs(packed)).logprob
    const wanted = Uint8Array.from(packed.tokens, (_, t) => (t % 3 === 1 ? 1 : 0))
    const some = (await policy.logprobs({ ...packed, wanted })).logprob
    expect([...some]).toEqual([...all].map((x, t) => (wanted[t] ? x : 0)))
    const none = (await policy.logprobs({ ...packed, wanted: wanted.fill(0) })).logprob
    expect(none.every((x) => x === 0)).toBe(true)
    expect(await codeOf(policy.logprobs({ ...packed, wanted: wanted.slice(1) }))).toBe('ERR_SHAPE')
  })

  test('a signal that is none is refused', async () => {
    const policy = await load()
    const signal = { aborted: true } as AbortSignal
    expect(await codeOf(policy.generate({ tokens: prompt, maxTokens: 1, signal }))).toBe(
      'ERR_INVALID_ARGUMENT',
    )
  })
})
