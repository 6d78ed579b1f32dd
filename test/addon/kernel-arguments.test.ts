import { describe, expect, test } from 'vitest'
import type { MaskTokensInput, PolicyLossInput } from '../../lib/addon/addon-types.js'
import { kernels } from '../../lib/addon/kernels.js'
import { SkillgateError } from '../../lib/errors.js'

const f32 = (...values: number[]) => Float32Array.from(values)
const i32 = (...values: number[]) => Int32Array.from(values)

/** Three tokens, two of them in the first sequence; one read. */
const masks: MaskTokensInput = {
  sequenceOffsets: i32(0, 2, 3),
  generated: Uint8Array.of(0, 1, 1),
  outcomeAdvantage: f32(1, -1),
  reads: {
    callStart: i32(1),
    callEnd: i32(2),
    identityStart: i32(1),
    identityEnd: i32(2),
    advantage: f32(0.5),
  },
  selectorCoefficient: 0.2,
  readCalls: 'excluded',
}

/** T = 2, D = 3, V = 4; the second row has no weight. */
const loss: PolicyLossInput = {
  hidden: f32(1, 2, 3, 4, 5, 6),
  lmHead: f32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11).map((x) => x / 10),
  shape: [2, 3, 4],
  target: i32(1, 2),
  advantage: f32(1, 1),
  weight: f32(0.5, 0),
  klWeight: f32(0.5, 0),
  behaviourLogprob: f32(-1, -1),
  referenceLogprob: f32(-1, -1),
}

const detached = new Float32Array(2)
structuredClone(detached.buffer, { transfer: [detached.buffer] })
const shared = new Float32Array(new SharedArrayBuffer(8))
shared.set([0.5, 0])

type Refusal = readonly [field: string, value: unknown, code: string, ...parts: string[]]

async function expectRefusal(call: () => unknown, [field, , code, ...parts]: Refusal) {
  let error: unknown
  try {
    await call()
  } catch (caught) {
    error = caught
  }
  expect(error, field).toBeInstanceOf(SkillgateError)
  const { code: got, message } = error as SkillgateError
  expect(`${got} ${message}`).toContain(code)
  for (const part of [field, ...parts]) expect(message).toContain(part)
}

const lossRefusals: Refusal[] = [
  ['hidden', undefined, 'ERR_INVALID_ARGUMENT', 'Float32Array of length 6', 'undefined'],
  ['hidden', [1, 2, 3, 4, 5, 6], 'ERR_INVALID_ARGUMENT', 'an array of length 6'],
  ['hidden', new Float64Array(6), 'ERR_INVALID_ARGUMENT', 'Float64Array of length 6'],
  ['hidden', new DataView(new ArrayBuffer(24)), 'ERR_INVALID_ARGUMENT'],
  ['hidden', new ArrayBuffer(24), 'ERR_INVALID_ARGUMENT', 'an ArrayBuffer'],
  ['hidden', new Float32Array(5), 'ERR_SHAPE', 'of length 6', 'of length 5'],
  ['hidden', f32(1, Number.NaN, 3, 4, 5, 6), 'ERR_NOT_FINITE', '[1]', 'NaN'],
  ['lmHead', loss.lmHead.map((x, i) => (i === 7 ? Infinity : x)), 'ERR_NOT_FINITE', '[7]', 'Infinity'],
  ['shape', [2, 3], 'ERR_INVALID_ARGUMENT', '[T, D, V]'],
  ['shape', [2, 3, '4'], 'ERR_INVALID_ARGUMENT', '"4"'],
  ['shape', [2, 3, 0], 'ERR_SHAPE', '0'],
  ['shape', [2, 3, -4], 'ERR_SHAPE', '-4'],
  ['shape', [2, 1.5, 4], 'ERR_SHAPE', '1.5'],
  ['shape', [2 ** 31, 3, 4], 'ERR_SHAPE', '2147483648'],
  ['shape', [2, 3, Number.NaN], 'ERR_SHAPE', 'NaN'],
  ['shape', new Int32Array([2, 3, 4]), 'ERR_INVALID_ARGUMENT', 'Int32Array'],
  ['target', f32(1, 2), 'ERR_INVALID_ARGUMENT', 'Int32Array', 'Float32Array'],
  ['target', new BigInt64Array(2), 'ERR_INVALID_ARGUMENT', 'BigInt64Array'],
  ['target', i32(4, 2), 'ERR_INVALID_TOKEN', '[0]', '0 to 3', '4'],
  ['target', i32(-1, 2), 'ERR_INVALID_TOKEN', '[0]', '-1'],
  ['advantage', f32(Number.NaN, 1), 'ERR_NOT_FINITE', '[0]', 'NaN'],
  ['advantage', detached, 'ERR_SHAPE', 'of length 0'],
  ['weight', f32(Number.NaN, 0), 'ERR_NOT_FINITE', '[0]'],
  ['weight', f32(1, -Infinity), 'ERR_NOT_FINITE', '[1]', '-Infinity'],
  ['klWeight', f32(0, Infinity), 'ERR_NOT_FINITE', '[1]'],
  ['klWeight', f32(1), 'ERR_SHAPE'],
  ['behaviourLogprob', f32(-Infinity, 1), 'ERR_NOT_FINITE', '[0]'],
  ['referenceLogprob', f32(Number.NaN, 1), 'ERR_NOT_FINITE', '[0]'],
  ['temperature', 0, 'ERR_OUT_OF_RANGE', '> 0', '0'],
  ['temperature', -1, 'ERR_OUT_OF_RANGE', '-1'],
  ['temperature', Number.NaN, 'ERR_NOT_FINITE', 'NaN'],
  ['temperature', Infinity, 'ERR_NOT_FINITE'],
  ['temperature', 1e-60, 'ERR_OUT_OF_RANGE', '32-bit'],
  ['temperature', 1e60, 'ERR_OUT_OF_RANGE', '32-bit'],
  ['temperature', '1', 'ERR_INVALID_ARGUMENT', '"1"'],
  ['temperature', 1n, 'ERR_INVALID_ARGUMENT', 'bigint'],
  ['clipLow', 1.5, 'ERR_OUT_OF_RANGE', '[0, 1]'],
  ['clipHigh', -0.1, 'ERR_OUT_OF_RANGE'],
  ['dualClip', 1, 'ERR_OUT_OF_RANGE', '> 1'],
  ['kl', 'k4', 'ERR_OUT_OF_RANGE', '"k1", "k2", "k3"', '"k4"'],
  ['kl', 3, 'ERR_INVALID_ARGUMENT'],
  ['kl', Symbol('k3'), 'ERR_INVALID_ARGUMENT', 'a symbol'],
  ['klCoefficient', -1, 'ERR_OUT_OF_RANGE'],
  ['device', 'gpu', 'ERR_OUT_OF_RANGE', '"cpu", "cuda"'],
  ['threads', -1, 'ERR_OUT_OF_RANGE'],
  ['threads', 1e9, 'ERR_OUT_OF_RANGE'],
  ['instructionSet', 'mmx', 'ERR_OUT_OF_RANGE', '"avx2"'],
  ['precision', 'fp8', 'ERR_OUT_OF_RANGE', '"bf16", "fp32"'],
  ['cublaslt', 12, 'ERR_INVALID_ARGUMENT', '12'],
  ['clipHi', 0.3, 'ERR_UNKNOWN_OPTION', 'clipHigh'],
]

describe('policyLoss', () => {
  test.each(lossRefusals.map((refusal, i) => [i, ...refusal] as const))(
    'refusal %i: %s',
    async (_, ...refusal) => {
      const [field, value] = refusal
      const input = { ...loss, [field]: value } as PolicyLossInput
      await expectRefusal(() => kernels.policyLoss(input), refusal)
    },
  )

  test('a shape beyond any array is a wrong length', async () => {
    const most = 2 ** 31 - 1
    const input = { ...loss, shape: [most, most, most] as const }
    await expect(kernels.policyLoss(input)).rejects.toMatchObject({ code: 'ERR_SHAPE' })
  })

  test('takes the same values from shared, resizable and offset memory', async () => {
    const wanted = await kernels.policyLoss(loss)
    const Resizable = ArrayBuffer as unknown as new (n: number, o: { maxByteLength: number }) => ArrayBuffer
    const resizable = new Float32Array(new Resizable(8, { maxByteLength: 64 }))
    resizable.set([0.5, 0])
    const offset = f32(9, 9, 0.5, 0).subarray(2)
    for (const weight of [shared, resizable, offset]) {
      expect((await kernels.policyLoss({ ...loss, weight })).loss).toBe(wanted.loss)
    }
  })

  test('an array that a later getter detaches was copied before', async () => {
    const hidden = loss.hidden.slice()
    const input = Object.defineProperty({ ...loss, hidden }, 'target', {
      enumerable: true,
      get() {
        structuredClone(hidden.buffer, { transfer: [hidden.buffer] })
        return loss.target
      },
    })
    expect((await kernels.policyLoss(input)).loss).toBe((await kernels.policyLoss(loss)).loss)
    expect(hidden.length).toBe(0)
  })

  test('the error of a getter comes through', async () => {
    const input = Object.defineProperty({ ...loss }, 'weight', {
      enumerable: true,
      get() {
        throw new TypeError('from the getter')
      },
    })
    await expect(kernels.policyLoss(input)).rejects.toThrow('from the getter')
  })

  test.each([undefined, null, 1, 'x', [], () => {}, f32(1)])('%o is no argument', async (input) => {
    await expect(kernels.policyLoss(input as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })
})

const maskRefusals: Refusal[] = [
  ['generated', [0, 1, 1], 'ERR_INVALID_ARGUMENT', 'Uint8Array'],
  ['generated', new Uint8ClampedArray(3), 'ERR_INVALID_ARGUMENT', 'Uint8ClampedArray'],
  ['generated', Uint8Array.of(0, 2, 1), 'ERR_OUT_OF_RANGE', '[1]', '2'],
  ['sequenceOffsets', i32(0, 2), 'ERR_SHAPE', '3', '2 last'],
  ['sequenceOffsets', i32(1, 2, 3), 'ERR_SHAPE', '1 first'],
  ['sequenceOffsets', i32(0, 2, 2, 3), 'ERR_SHAPE', 'index 2'],
  ['sequenceOffsets', i32(0, 2, 1, 3), 'ERR_SHAPE', 'index 2'],
  ['sequenceOffsets', i32(0, 2 ** 31 - 1), 'ERR_SHAPE'],
  ['sequenceOffsets', i32(), 'ERR_SHAPE', 'at least 2'],
  ['outcomeAdvantage', f32(1), 'ERR_SHAPE', 'of length 2'],
  ['outcomeAdvantage', f32(1, Number.NaN), 'ERR_NOT_FINITE', '[1]'],
  ['reads', [], 'ERR_INVALID_ARGUMENT'],
  ['callStart', i32(-1), 'ERR_OUT_OF_RANGE', 'index 0', '-1'],
  ['callEnd', i32(4), 'ERR_OUT_OF_RANGE', '<= 3'],
  ['callEnd', i32(0), 'ERR_OUT_OF_RANGE'],
  ['identityStart', i32(3), 'ERR_OUT_OF_RANGE'],
  ['identityEnd', i32(2, 2), 'ERR_SHAPE', 'of length 1'],
  ['advantage', f32(Infinity), 'ERR_NOT_FINITE'],
  ['selectorCoefficient', -0.1, 'ERR_OUT_OF_RANGE', '>= 0'],
  ['selectorCoefficient', undefined, 'ERR_INVALID_ARGUMENT'],
  ['readCalls', 'both', 'ERR_OUT_OF_RANGE', '"excluded", "included"'],
  ['lambda', 0.2, 'ERR_UNKNOWN_OPTION', 'selectorCoefficient'],
]

describe('maskTokens', () => {
  test.each(maskRefusals.map((refusal, i) => [i, ...refusal] as const))(
    'refusal %i: %s',
    async (_, ...refusal) => {
      const [field, value] = refusal
      const input =
        field in masks.reads
          ? { ...masks, reads: { ...masks.reads, [field]: value } }
          : { ...masks, [field]: value }
      await expectRefusal(() => kernels.maskTokens(input as MaskTokensInput), refusal)
    },
  )

  test('gives each token its channel and absolute weight', () => {
    const { channel, advantage, weight, klWeight, generatedCount } = kernels.maskTokens(masks)
    expect([...channel]).toEqual([0, 2, 1])
    expect([...advantage]).toEqual([0, 0.5, -1])
    expect([...weight]).toEqual([0, Math.fround(0.2), 1])
    expect([...klWeight]).toEqual([0, 0.5, 0.5])
    expect(generatedCount).toBe(2)
  })

  test('the outcome of a sequence without a sampled token may be anything', () => {
    const generated = Uint8Array.of(0, 0, 1)
    const { weight } = kernels.maskTokens({ ...masks, generated, outcomeAdvantage: f32(Number.NaN, 1) })
    expect([...weight]).toEqual([0, 0, 1])
  })

  test('nothing in, nothing out', () => {
    const none = i32()
    const reads = { callStart: none, callEnd: none, identityStart: none, identityEnd: none, advantage: f32() }
    const empty = {
      ...masks,
      sequenceOffsets: i32(0),
      generated: new Uint8Array(),
      outcomeAdvantage: f32(),
      reads,
    }
    expect(kernels.maskTokens(empty)).toMatchObject({ generatedCount: 0, weight: f32() })
  })
})
