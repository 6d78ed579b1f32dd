import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SkillgateError } from '../../lib/errors.js'
import { NativePolicy, type NativePolicyOptions } from '../../lib/policy/native-policy.js'
import { sameBits } from '../golden/tensors.js'
import { batch, codeOf, dir, load, long, packed, prompt, scratch, T } from './golden-policy.js'

describe('order', () => {
  test('what is asked before a step sees the weights before it, what is asked after it those after', async () => {
    const policy = await load()
    const before = await policy.generate({ tokens: prompt, maxTokens: 20, seed: 1 })
    const inFlight = policy.generate({ tokens: prompt, maxTokens: 20, seed: 1 })
    const accumulated = policy.accumulate(batch)
    const stepped = policy.step({ learningRate: 0.05 })
    const late = policy.generate({ tokens: prompt, maxTokens: 20, seed: 1 })
    expect(policy.version).toBe(0)
    const first = await inFlight
    expect(first.tokens).toEqual(before.tokens)
    expect(sameBits(first.logprobs, before.logprobs)).toBe(true)
    await accumulated
    expect((await stepped).skipped).toBe(false)
    expect(policy.version).toBe(1)
    const after = await late
    const again = await policy.generate({ tokens: prompt, maxTokens: 20, seed: 1 })
    expect(after.tokens).toEqual(again.tokens)
    expect(sameBits(after.logprobs, again.logprobs)).toBe(true)
    expect(sameBits(after.logprobs, before.logprobs)).toBe(false)
  })

  test('reading and scoring go on between the passes of generation', async () => {
    const policy = await load()
    const settled: string[] = []
    const generated = policy.generate({ ...long, maxTokens: 30 }).then(() => settled.push('generate'))
    await policy.logprobs(packed).then(() => settled.push('logprobs'))
    await policy.parameter('model.norm.weight').then(() => settled.push('parameter'))
    await generated
    expect(settled).toEqual(['logprobs', 'parameter', 'generate'])
  })

  test('a changed parameter counts from the next request, a session notwithstanding', async () => {
    const policy = await load()
    const session = policy.openSession()
    const request = { tokens: prompt, maxTokens: 8, seed: 3 }
    const before = await policy.generate({ ...request, session })
    const norm = await policy.parameter('model.norm.weight')
    await policy.setParameter(
      'model.norm.weight',
      norm.map((x) => x * 2),
    )
    const after = await policy.generate({ ...request, session })
    expect(sameBits(after.logprobs, before.logprobs)).toBe(false)
    await policy.setParameter('model.norm.weight', norm)
    const back = await policy.generate({ ...request, session })
    expect(back.tokens).toEqual(before.tokens)
    expect(sameBits(back.logprobs, before.logprobs)).toBe(true)
  })

  test('arguments are copied when the call is made', async () => {
    const policy = await load()
    const wanted = await policy.logprobs(packed)
    const tokens = packed.tokens.slice()
    const promise = policy.logprobs({ ...packed, tokens })
    tokens.fill(-1)
    structuredClone(tokens.buffer, { transfer: [tokens.buffer] })
    expect(sameBits((await promise).logprob, wanted.logprob)).toBe(true)
  })
})

describe('generate', () => {
  test('stops at any of the stop tokens, which is the last of its tokens', async () => {
    const policy = await load()
    const free = await policy.generate({ tokens: prompt, maxTokens: 30, seed: 5 })
    const stop = free.tokens[9]!
    const first = free.tokens.indexOf(stop)
    const stopped = await policy.generate({ tokens: prompt, maxTokens: 30, seed: 5, stopTokens: [stop, 0] })
    const expected = [...free.tokens].findIndex((id) => id === stop || id === 0)
    expect(expected).toBeLessThanOrEqual(first)
    expect(stopped.finishReason).toBe('stop')
    expect(stopped.tokens).toEqual(free.tokens.slice(0, expected + 1))
    expect(stopped.logprobs.length).toBe(stopped.tokens.length)
  })

  test('a session gives what a request without one gives; a fork goes on by itself', async () => {
    const policy = await load()
    const session = policy.openSession()
    const first = await policy.generate({ session, tokens: prompt, maxTokens: 10, seed: 1 })
    const context = Int32Array.of(...prompt, ...first.tokens, 7, 8)
    const fork = session.fork()
    const results = await Promise.all([
      policy.generate({ session, tokens: context, maxTokens: 10, seed: 2 }),
      policy.generate({ session: fork, tokens: context, maxTokens: 10, seed: 2 }),
      policy.generate({ tokens: context, maxTokens: 10, seed: 2 }),
    ])
    for (const { tokens, logprobs } of results) {
      expect(tokens).toEqual(results[0]!.tokens)
      expect(sameBits(logprobs, results[0]!.logprobs)).toBe(true)
    }
    session.close()
    session.close()
    expect(await codeOf(policy.generate({ session, tokens: prompt, maxTokens: 1 }))).toBe(
      'ERR_UNKNOWN_SESSION',
    )
    expect((await policy.generate({ session: fork, tokens: prompt, maxTokens: 1 })).tokens.length).toBe(1)
    expect(() => session.fork()).toThrow(SkillgateError)
  })

  test('a session takes one request at a time and is not forked meanwhile', async () => {
    const policy = await load()
    const session = policy.openSession()
    const running = policy.generate({ ...long, session })
    expect(await codeOf(policy.generate({ ...long, session }))).toBe('ERR_BUSY')
    expect(() => session.fork()).toThrow(expect.objectContaining({ code: 'ERR_BUSY' }))
    expect((await running).finishReason).toBe('length')
    expect((await policy.generate({ session, tokens: prompt, maxTokens: 1 })).finishReason).toBe('length')
  })

  test('closing a session ends its request', async () => {
    const policy = await load()
    const session = policy.openSession()
    const running = policy.generate({ ...long, session })
    session.close()
    expect((await running).finishReason).toBe('aborted')
  })

  test('a session of another policy is not known', async () => {
    const [a, b] = [await load(), await load()]
    const request = { session: b.openSession(), tokens: prompt, maxTokens: 1 }
    expect(await codeOf(a.generate(request))).toBe('ERR_UNKNOWN_SESSION')
    const forged = { id: 1, fork: () => forged, close() {} }
    expect(await codeOf(a.generate({ ...request, session: forged }))).toBe('ERR_UNKNOWN_SESSION')
  })

  test('a context that fills the model ends there; a longer one is refused', async () => {
    const policy = await load()
    const tokens = new Int32Array(510)
    const { tokens: got, finishReason } = await policy.generate({ tokens, maxTokens: 100 })
    expect([got.length, finishReason]).toEqual([2, 'length'])
    expect(await codeOf(policy.generate({ tokens: new Int32Array(512), maxTokens: 1 }))).toBe(
      'ERR_CONTEXT_LENGTH',
    )
    const sequenceOffsets = Int32Array.of(0, 513)
    expect(await codeOf(policy.logprobs({ tokens: new Int32Array(513), sequenceOffsets }))).toBe(
      'ERR_CONTEXT_LENGTH',
    )
  })
})

/** Every method, with what it may come to while the policy is open. */
const methods: Record<string, (policy: NativePolicy) => Promise<unknown> | unknown> = {
  logprobs: (policy) => policy.logprobs(packed),
  accumulate: (policy) => policy.accumulate(batch),
  step: (policy) => policy.step({ learningRate: 1e-3 }),
  zeroGradients: (policy) => policy.zeroGradients(),
  openSession: (policy) => policy.openSession(),
  generate: (policy) => policy.generate({ tokens: prompt, maxTokens: 3 }),
  parameter: (policy) => policy.parameter('model.norm.weight'),
  gradient: (policy) => policy.gradient('model.norm.weight'),
  setParameter: (policy) => policy.setParameter('model.norm.weight', new Float32Array(48).fill(1)),
  save: (policy) => policy.save(join(scratch, 'matrix')),
  saveOptimizer: (policy) => policy.saveOptimizer(join(scratch, 'matrix.optimizer')),
  loadOptimizer: (policy) => policy.loadOptimizer(join(scratch, 'matrix.optimizer')),
}
const call = (name: string, policy: NativePolicy) => codeOf((async () => methods[name]!(policy))())

describe('states', () => {
  const names = Object.keys(methods)

  test.each(names)('%s on an open policy, idle and busy', async (name) => {
    const policy = await load()
    await policy.saveOptimizer(join(scratch, 'matrix.optimizer'))
    expect(await call(name, policy)).toBe('resolved')
    const busy = [policy.generate(long), policy.accumulate(batch), policy.step({ learningRate: 1e-3 })]
    expect(await call(name, policy)).toBe('resolved')
    await Promise.all(busy)
  })

  test.each(names)('%s on a disposed policy', async (name) => {
    const policy = await load()
    policy.dispose()
    expect(policy.disposed).toBe(true)
    expect(await call(name, policy)).toBe('ERR_DISPOSED')
    policy.dispose()
    expect(policy.vocabularySize).toBe(113)
    expect(policy.version).toBe(0)
  })

  test.each(names)('dispose while %s is in flight', async (name) => {
    const policy = await load()
    const running = [call(name, policy), codeOf(policy.generate(long)), call(name, policy)]
    policy.dispose()
    for (const code of await Promise.all(running))
      expect(['resolved', 'ERR_DISPOSED', 'ERR_SAFETENSORS']).toContain(code)
  })

  test.each(names)('%s on a policy that is not trainable', async (name) => {
    const policy = await load({ trainable: false })
    const training = ['accumulate', 'step', 'zeroGradients', 'gradient', 'saveOptimizer', 'loadOptimizer']
    expect(await call(name, policy)).toBe(training.includes(name) ? 'ERR_NOT_TRAINABLE' : 'resolved')
  })

  test('dispose in the midst of many calls settles each of them', async () => {
    const policy = await load({ threads: 2 })
    const session = policy.openSession()
    const calls = Array.from({ length: 60 }, (_, i) =>
      i % 3 === 0 ? policy.logprobs(packed) : i % 3 === 1 ? policy.generate(long) : policy.accumulate(batch),
    )
    setTimeout(() => policy.dispose(), 5)
    const codes = await Promise.all(calls.map(codeOf))
    expect(codes.at(-1)).toBe('ERR_DISPOSED')
    session.close()
    expect(() => session.fork()).toThrow(expect.objectContaining({ code: 'ERR_DISPOSED' }))
  })

  test('Symbol.dispose disposes', async () => {
    const policy = await load()
    policy[Symbol.dispose]()
    expect(policy.disposed).toBe(true)
  })
})

describe('loading', () => {
  test('what is no model folder is told', async () => {
    for (const path of [join(scratch, 'nothing'), scratch, join(dir, 'config.json')]) {
      const error = await NativePolicy.load(path).catch((e) => e)
      expect(error).toBeInstanceOf(SkillgateError)
      expect(error.message).toContain(path)
      expect(error.cause).toBeInstanceOf(Error)
    }
  })

  test.each([
    [{ device: 'tpu' }, 'ERR_OUT_OF_RANGE'],
    [{ device: 'cuda' }, 'ERR_NO_DEVICE'],
    [{ threads: -1 }, 'ERR_OUT_OF_RANGE'],
    [{ threads: 1.5 }, 'ERR_OUT_OF_RANGE'],
    [{ threads: '2' }, 'ERR_INVALID_ARGUMENT'],
    [{ instructionSet: 'sse' }, 'ERR_OUT_OF_RANGE'],
    [{ trainable: 1 }, 'ERR_INVALID_ARGUMENT'],
    [{ prefillChunk: 0 }, 'ERR_OUT_OF_RANGE'],
    [{ thread: 2 }, 'ERR_UNKNOWN_OPTION'],
  ])('options %o are refused', async (options, code) => {
    expect(await codeOf(NativePolicy.load(dir, options as NativePolicyOptions))).toBe(code)
  })

  test('the stack of an error leads to the caller', async () => {
    const policy = await load()
    async function theCaller() {
      await policy.logprobs({ ...packed, tokens: Int32Array.of(1) })
    }
    const error = await theCaller().catch((e) => e)
    expect(error.code).toBe('ERR_SHAPE')
    expect(error.stack).toContain('theCaller')
  })
})

test('policies that are dropped without dispose go, threads and all', async () => {
  for (let i = 0; i < 40; i++) await NativePolicy.load(dir, { threads: 1 })
  const policy = await load()
  expect((await policy.logprobs(packed)).logprob.length).toBe(T)
})
