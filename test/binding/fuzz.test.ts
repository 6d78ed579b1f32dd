import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PolicyHandle } from '../../lib/addon/addon-types.js'
import { loadAddon } from '../../lib/addon/load-addon.js'
import { goldenFolder } from '../golden/tensors.js'
import { garbage, outcome, spoiled } from './garbage.js'

const addon = loadAddon()
const dir = join(goldenFolder, 'models', 'qwen3')
const scratch = mkdtempSync(join(tmpdir(), 'skillgate-'))
afterAll(() => rmSync(scratch, { recursive: true }))
const runs = { numRuns: 300 }

const T = 12
const zeros = () => new Float32Array(T)
const masks = {
  sequenceOffsets: Int32Array.of(0, 5, T),
  generated: new Uint8Array(T).fill(1),
  outcomeAdvantage: Float32Array.of(1, -1),
  reads: {
    callStart: Int32Array.of(1),
    callEnd: Int32Array.of(4),
    identityStart: Int32Array.of(2),
    identityEnd: Int32Array.of(3),
    advantage: Float32Array.of(0.5),
  },
  selectorCoefficient: 0.2,
  readCalls: 'excluded' as const,
}
const fields = {
  advantage: zeros().fill(1),
  weight: zeros().map((_, t) => (t === 0 || t === 5 ? 0 : 0.1)),
  klWeight: zeros(),
  behaviourLogprob: zeros(),
  referenceLogprob: zeros(),
  temperature: 1,
  clipLow: 0.2,
  clipHigh: 0.28,
  dualClip: 3,
  kl: 'k3' as const,
  klCoefficient: 0.1,
}
const loss = {
  ...fields,
  hidden: new Float32Array(T * 4).fill(0.5),
  lmHead: new Float32Array(9 * 4).fill(0.25),
  shape: [T, 4, 9] as const,
  target: new Int32Array(T).fill(3),
  device: 'cpu' as const,
  instructionSet: '' as const,
}
const packed = { tokens: new Int32Array(T).fill(7), sequenceOffsets: Int32Array.of(0, 5, T), temperature: 1 }
const batch = { ...packed, ...fields }
const step = { learningRate: 1e-6, betas: [0.9, 0.98] as const, eps: 1e-8, weightDecay: 0.1, maxGradNorm: 1 }
const request = {
  tokens: Int32Array.of(1, 2, 3),
  maxTokens: 4,
  temperature: 1,
  topP: 0.9,
  topK: 10,
  minP: 0.1,
  seed: 1,
  stopTokens: [5],
}

async function expectCodes(arbitrary: fc.Arbitrary<unknown>, call: (input: never) => unknown) {
  let refused = 0
  await fc.assert(
    fc.asyncProperty(arbitrary, async (input) => {
      if ((await outcome(() => call(input as never))) !== 'resolved') refused++
    }),
    runs,
  )
  expect(refused).toBeGreaterThan(0)
}

describe('kernels', () => {
  test('maskTokens', async () => {
    await expectCodes(fc.oneof(garbage, spoiled(masks)), (input) => addon.maskTokens(input))
    const reads = spoiled(masks.reads).map((spoiledReads) => ({ ...masks, reads: spoiledReads }))
    await expectCodes(reads, (input) => addon.maskTokens(input))
  })
  test('policyLoss', async () => {
    await expectCodes(fc.oneof(garbage, spoiled(loss)), (input) => addon.policyLoss(input))
  })
  test('describeDevice', async () => {
    await expectCodes(fc.oneof(garbage, spoiled({ device: 'cpu', instructionSet: 'portable' })), (input) =>
      addon.describeDevice(input),
    )
  })
  test('the valid input is valid', async () => {
    expect(addon.maskTokens(masks).generatedCount).toBe(T)
    expect((await addon.policyLoss(loss)).logprob.length).toBe(T)
  })
})

describe('policy', () => {
  let policy: PolicyHandle
  beforeAll(async () => {
    policy = await addon.loadPolicy(dir, { threads: 1 })
  })
  afterAll(() => policy.dispose())

  test('loadPolicy', async () => {
    const call = ([path, options]: [string, object]) =>
      addon.loadPolicy(path, options).then((loaded) => loaded.dispose())
    const options = {
      device: 'cpu',
      trainable: true,
      recompute: false,
      weights: 'bf16',
      memoryLimit: 2 ** 30,
      sharePrefixes: true,
      prefillChunk: 4,
    }
    await expectCodes(fc.tuple(fc.constant(dir), fc.oneof(garbage, spoiled(options))), call)
    await expectCodes(fc.tuple(garbage, fc.constant({})), call)
  })

  test.each([
    ['logprobs', packed],
    ['accumulate', batch],
    ['step', step],
    ['generate', { ...request, session: 1 }],
    ['setParameter', { name: 'model.norm.weight', values: new Float32Array(48).fill(1) }],
  ] as const)('%s', async (method, valid) => {
    await expectCodes(
      fc.oneof(garbage, spoiled(valid)),
      (input) => (policy[method] as (x: unknown) => { promise: Promise<unknown> })(input).promise,
    )
  })

  test.each(['parameter', 'gradient', 'save', 'saveOptimizer', 'loadOptimizer'] as const)(
    '%s',
    async (method) => {
      const text = fc.oneof(
        garbage.filter((value) => typeof value !== 'string'),
        fc.constantFrom(
          '',
          '\0',
          `${scratch}/a\0b`,
          `${scratch}/no/such/place`,
          `/dev/null/${method}`,
          scratch,
        ),
      )
      await expectCodes(text, (input) => policy[method](input).promise)
    },
  )

  test.each(['forkSession', 'closeSession', 'abort'] as const)('%s', async (method) => {
    await expectCodes(garbage, (input) => policy[method](input))
  })

  test('the valid inputs are valid, before and after all that', async () => {
    const { gradNorm } = await policy.step({ ...step, learningRate: 0 }).promise
    expect(gradNorm).toBeGreaterThanOrEqual(0)
    const fresh = await addon.loadPolicy(dir, { threads: 1 })
    const [a, b] = await Promise.all([fresh.accumulate(batch).promise, fresh.logprobs(packed).promise])
    expect(a.logprob.length).toBe(T)
    expect(b.logprob.length).toBe(T)
    expect((await fresh.generate(request).promise).tokens.length).toBeGreaterThan(0)
    fresh.dispose()
  })
})

describe('receivers', () => {
  test('methods are not to be had without their policy', async () => {
    const policy = await addon.loadPolicy(dir, { threads: 1 })
    const { constructor: Class } = policy as unknown as {
      constructor: new (...args: unknown[]) => PolicyHandle
    }
    const prototype = Object.getPrototypeOf(policy)
    for (const name of Object.getOwnPropertyNames(prototype)) {
      if (name === 'constructor') continue
      for (const receiver of [{}, undefined, prototype, Object.create(policy), new Float32Array(1)]) {
        expect(() => prototype[name].call(receiver, packed)).toThrow()
      }
    }
    expect(() => new Class(dir, {})).toThrow(expect.objectContaining({ code: 'ERR_ILLEGAL_CONSTRUCTOR' }))
    expect(() => (Class as unknown as () => unknown)()).toThrow()
    policy.dispose()
  })
})
