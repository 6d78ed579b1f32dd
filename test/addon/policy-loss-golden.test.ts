import { describe, expect, test } from 'vitest'
import type { PolicyLossInput } from '../../lib/addon/addon-types.js'
import { diagnose } from '../../lib/addon/doctor.js'
import { kernels } from '../../lib/addon/kernels.js'
import { frobenius, goldenJson, goldenTensors, sameBits } from '../golden/tensors.js'

const cases = [
  'grpo_k3',
  'dual_clip',
  'temperature',
  'k1',
  'large_logits',
  'extreme_ratio',
  'one_token',
  'all_masked',
]
const instructionSets = diagnose()
  .instructionSets.filter(({ available }) => available)
  .map(({ name }) => name)

function goldenCase(name: string) {
  const tensors = goldenTensors(`loss/${name}.safetensors`)
  const options = goldenJson(`loss/${name}.json`)
  const hidden = tensors.f32('hidden')
  const lmHead = tensors.f32('lm_head')
  const [T = 0, D = 0] = tensors.shape('hidden')
  const [V = 0] = tensors.shape('lm_head')
  const channel = tensors.i32('channel')
  const pick = (task: string, selector: string, taskScale: number, selectorScale: number) => {
    const a = tensors.f32(task)
    const b = tensors.f32(selector)
    return Float32Array.from(channel, (c, t) =>
      c === 1 ? a[t]! * taskScale : c === 2 ? b[t]! * selectorScale : 0,
    )
  }
  const { denominator, selector_coef: lambda } = options
  const input: PolicyLossInput = {
    hidden,
    lmHead,
    shape: [T, D, V],
    target: tensors.i32('target'),
    advantage: pick('task_advantage', 'selector_advantage', 1, 1),
    weight: pick('task_weight', 'selector_weight', 1 / denominator, lambda / denominator),
    klWeight: tensors.f32('kl_weight').map((w) => w / denominator),
    behaviourLogprob: tensors.f32('old_logprob'),
    referenceLogprob: tensors.f32('ref_logprob'),
    temperature: options.temperature,
    clipLow: options.clip_low,
    clipHigh: options.clip_high,
    dualClip: options.dual_clip ?? undefined,
    kl: options.kl,
    klCoefficient: options.kl_coef,
  }
  return { input, tensors, options }
}

describe.each(instructionSets)('policyLoss on %s', (instructionSet) => {
  test.each(cases)('%s is the golden file', async (name) => {
    const { input, tensors, options } = goldenCase(name)
    const result = await kernels.policyLoss({ ...input, instructionSet, threads: 2 })
    expect(Math.abs(result.loss - options.loss)).toBeLessThanOrEqual(
      1e-5 * Math.max(1, Math.abs(options.loss)),
    )
    expect(Math.abs(result.klLoss - options.kl_loss)).toBeLessThanOrEqual(
      1e-5 * Math.max(1, Math.abs(options.kl_loss)),
    )
    const wanted = { logprob: tensors.f32('logprob'), entropy: tensors.f32('entropy') }
    const target = wanted.logprob
    for (const field of ['logprob', 'entropy'] as const) {
      const far = [...result[field]].findIndex((got, t) => {
        const active = input.weight[t] !== 0 || input.klWeight![t] !== 0
        const value = active ? wanted[field][t]! : 0
        const allowed = Math.abs(target[t]!) < 20 ? 5e-5 : 1e-5 * Math.max(Math.abs(value), 1)
        return !(Math.abs(got - value) <= allowed)
      })
      if (far >= 0) expect.unreachable(`${field}[${far}]: ${result[field][far]}, not ${wanted[field][far]}`)
    }
    expect(frobenius(result.dHidden, tensors.f32('d_hidden'))).toBeLessThanOrEqual(2e-5)
    expect(frobenius(result.dLmHead, tensors.f32('d_lm_head'))).toBeLessThanOrEqual(2e-5)
  })

  test.each(cases)('%s has the same bits at 1, 2 and 3 threads', async (name) => {
    const { input } = goldenCase(name)
    const one = await kernels.policyLoss({ ...input, instructionSet, threads: 1 })
    for (const threads of [2, 3]) {
      const many = await kernels.policyLoss({ ...input, instructionSet, threads })
      expect(many.loss).toBe(one.loss)
      for (const field of ['logprob', 'entropy', 'dHidden', 'dLmHead'] as const) {
        expect(sameBits(many[field], one[field]), `${field} at ${threads} threads`).toBe(true)
      }
    }
  })
})

const poisons: Partial<Record<keyof PolicyLossInput, number[]>> = {
  advantage: [Number.NaN, Infinity, -200],
  behaviourLogprob: [Number.NaN, -Infinity, 200],
  referenceLogprob: [Number.NaN, Infinity, -200],
  target: [-1, 2 ** 31 - 1],
}

test.each(['grpo_k3', 'temperature', 'extreme_ratio'])(
  '%s: rows without weight may hold anything',
  async (name) => {
    const { input } = goldenCase(name)
    const clean = await kernels.policyLoss(input)
    const [T, D] = input.shape
    const absent = Array.from({ length: T }, (_, t) => t).filter(
      (t) => input.weight[t] === 0 && input.klWeight![t] === 0,
    )
    expect(absent.length).toBeGreaterThan(0)
    for (const [field, values] of Object.entries(poisons)) {
      for (const value of values) {
        const array = (input[field as keyof PolicyLossInput] as Float32Array | Int32Array).slice()
        for (const t of absent) array[t] = value
        const hidden = input.hidden.slice()
        for (const t of absent) hidden.fill(Number.NaN, t * D, (t + 1) * D)
        const poisoned = await kernels.policyLoss({ ...input, hidden, [field]: array })
        expect(poisoned.loss).toBe(clean.loss)
        expect(poisoned.klLoss).toBe(clean.klLoss)
        for (const out of ['logprob', 'entropy', 'dHidden', 'dLmHead'] as const) {
          expect(sameBits(poisoned[out], clean[out]), `${out} with ${field} = ${value}`).toBe(true)
        }
      }
    }
  },
)

test('each half of the loss may be absent by itself', async () => {
  const { input } = goldenCase('grpo_k3')
  const zero = new Float32Array(input.shape[0])
  const nan = zero.map(() => Number.NaN)
  const withoutKl = await kernels.policyLoss({ ...input, klWeight: zero, referenceLogprob: nan })
  expect(withoutKl.klLoss).toBe(0)
  const onlyKl = await kernels.policyLoss({ ...input, weight: zero, advantage: nan, behaviourLogprob: nan })
  expect(onlyKl.loss).toBeCloseTo(input.klCoefficient! * onlyKl.klLoss, 6)
  const both = await kernels.policyLoss(input)
  expect(withoutKl.loss + onlyKl.loss).toBeCloseTo(both.loss, 6)
  const optional = await kernels.policyLoss({ ...input, klWeight: undefined, referenceLogprob: undefined })
  expect(optional.loss).toBe(withoutKl.loss)
})

test('without behaviour logprobs the ratio is 1', async () => {
  const { input } = goldenCase('grpo_k3')
  const { logprob } = await kernels.policyLoss(input)
  const given = await kernels.policyLoss({ ...input, behaviourLogprob: logprob })
  const absent = await kernels.policyLoss({ ...input, behaviourLogprob: undefined })
  expect(absent.loss).toBe(given.loss)
  expect(sameBits(absent.dHidden, given.dHidden)).toBe(true)
})

test('any split of the rows sums to the same loss and gradient', async () => {
  const { input } = goldenCase('grpo_k3')
  const [T] = input.shape
  const whole = await kernels.policyLoss(input)
  for (const cut of [1, 17, T - 1]) {
    const part = (keep: (t: number) => boolean) => ({
      ...input,
      weight: input.weight.map((w, t) => (keep(t) ? w : 0)),
      klWeight: input.klWeight!.map((w, t) => (keep(t) ? w : 0)),
    })
    const a = await kernels.policyLoss(part((t) => t < cut))
    const b = await kernels.policyLoss(part((t) => t >= cut))
    expect(a.loss + b.loss).toBeCloseTo(whole.loss, 9)
    expect(
      frobenius(
        a.dLmHead.map((x, i) => x + b.dLmHead[i]!),
        whole.dLmHead,
      ),
    ).toBeLessThan(1e-6)
    expect(
      frobenius(
        a.dHidden.map((x, i) => x + b.dHidden[i]!),
        whole.dHidden,
      ),
    ).toBeLessThan(1e-6)
  }
})
