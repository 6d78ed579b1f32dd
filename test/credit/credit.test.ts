import { describe, expect, test } from 'vitest'
import { kernels } from '../../lib/addon/kernels.js'
import { assignCredit, type CreditedSequence } from '../../lib/credit/credit.js'
import { firstOracle } from '../../lib/credit/methods/first-oracle.js'
import { grpo } from '../../lib/credit/methods/grpo.js'
import { maskedTaskOnly } from '../../lib/credit/methods/masked-task-only.js'
import { skillgate } from '../../lib/credit/methods/skillgate.js'
import { allEqual, type Group, survivors } from '../../lib/rollout/trajectory.js'
import { type GoldenExpected, goldenBatches } from './golden.js'
import { maskTokensReference } from './mask-tokens-reference.js'

const lambda = 0.2
const golden = goldenBatches.map((batch, i) => ({ ...batch, name: `batch ${i}` }))

function expectClose(got: ArrayLike<number>, wanted: readonly number[]) {
  expect(got.length).toBe(wanted.length)
  const far = wanted.findIndex((w, i) => !(Math.abs(got[i]! - w) <= 1e-6 * Math.abs(w)))
  if (far !== -1) expect.unreachable(`entry ${far}: expected ${wanted[far]}, got ${got[far]}`)
}

function expectGolden(sequences: CreditedSequence[], expected: GoldenExpected) {
  const generated = sequences.reduce((n, s) => n + s.generated.filter((g) => g === 1).length, 0)
  for (const [i, s] of sequences.entries()) {
    const on = (channel: number, values: ArrayLike<number>) =>
      Array.from(values, (value, t) => (s.channel[t] === channel ? value : 0))
    const outcome = expected.task_weight[i]!.map((w) => (w > 0 ? expected.outcome_advantage[i]! : 0))
    expectClose(
      on(1, s.weight),
      expected.task_weight[i]!.map((w) => w / generated),
    )
    expectClose(
      on(2, s.weight),
      expected.selector_weight[i]!.map((w) => (lambda * w) / generated),
    )
    expectClose(on(1, s.advantage), outcome)
    expectClose(on(2, s.advantage), expected.selector_advantage[i]!)
    expectClose(
      s.klWeight,
      Array.from(s.generated, (g) => g / generated),
    )
  }
}

const { groups } = goldenBatches[0]!
const options = { method: skillgate, maskTokens: maskTokensReference }
const change = (edit: (t: Group['trajectories'][0]) => object): Group[] =>
  groups.map((g) => ({ ...g, trajectories: g.trajectories.map((t) => ({ ...t, ...edit(t) })) }))

describe.each([
  ['reference', maskTokensReference],
  ['addon', kernels.maskTokens],
])('with the %s kernel', (_, maskTokens) => {
  test.each(golden)('$name: skillgate as the released code', ({ groups, expected }) => {
    const { sequences } = assignCredit(groups, { method: skillgate, selectorCoefficient: lambda, maskTokens })
    expectGolden(sequences, expected.clean_oracle)
  })

  test.each(golden)('$name: first-oracle as the released code', ({ groups, expected }) => {
    const { sequences } = assignCredit(groups, {
      method: firstOracle,
      selectorCoefficient: lambda,
      maskTokens,
    })
    expectGolden(sequences, expected.first_oracle)
  })

  test.each(golden)('$name: masked-task-only is skillgate at lambda 0', ({ groups }) => {
    const masked = assignCredit(groups, { method: maskedTaskOnly, selectorCoefficient: lambda, maskTokens })
    const without = assignCredit(groups, { method: skillgate, selectorCoefficient: 0, maskTokens })
    expect(masked.sequences.map((s) => s.weight)).toEqual(without.sequences.map((s) => s.weight))
    expect(masked.statistics).toMatchObject({ selectionTokens: 0, activePositive: 0, activeNegative: 0 })
  })

  test.each(golden)('$name: grpo has the outcome on every generated token', ({ groups, expected }) => {
    const { sequences, statistics } = assignCredit(groups, { method: grpo, maskTokens })
    for (const [i, s] of sequences.entries()) {
      expect(s.channel).toEqual(s.generated)
      expectClose(
        s.weight,
        Array.from(s.generated, (g) => g / statistics.generatedTokens),
      )
      expectClose(
        s.advantage,
        Array.from(s.generated, (g) => g * expected.clean_oracle.outcome_advantage[i]!),
      )
    }
    expect(statistics.executionTokens).toBe(statistics.generatedTokens)
  })

  test('nothing to train on is an empty batch', () => {
    const { sequences, statistics } = assignCredit(
      change(() => ({ reward: null })),
      { method: skillgate, maskTokens },
    )
    expect(sequences).toEqual([])
    expect(statistics).toMatchObject({ trajectories: 0, generatedTokens: 0, meanReward: 0 })
  })
})

test.each(golden)('$name: dynamic sampling keeps what the released code keeps', ({ groups, expected }) => {
  const kept = groups.map((group) => !allEqual(survivors(group).map((t) => t.reward)))
  expect(kept).toEqual(expected.clean_oracle.kept_by_dynamic_sampling)
})

test('a group without labels has an execution channel only, read calls in it', () => {
  const { sequences, statistics } = assignCredit(
    change(() => ({ labelled: false })),
    options,
  )
  for (const s of sequences) expect(s.channel).toEqual(s.generated)
  expect(statistics.selectionTokens).toBe(0)
  expect(statistics.reads).toBeGreaterThan(0)
})

test('a failed rollout takes no part: its group is scored as if it had never been', () => {
  const failed = change((t) => (t.index === 2 ? { reward: null } : {}))
  const absent = groups.map((g) => ({ ...g, trajectories: g.trajectories.filter((t) => t.index !== 2) }))
  const { sequences, statistics } = assignCredit(failed, options)
  expect(sequences).toEqual(assignCredit(absent, options).sequences)
  expect(statistics).toMatchObject({ failed: groups.length, groups: groups.length })
})

test('the sequences of a trajectory share its outcome, and reads are found in the one they are in', () => {
  const whole = groups[0]!.trajectories[1]!
  const [sequence] = whole.sequences
  const cut = 57
  const early = sequence!.generated.map((g, t) => (t < cut ? g : 0))
  const late = sequence!.generated.map((g, t) => (t < cut ? 0 : g))
  const sequences = [
    { ...sequence!, generated: early },
    { ...sequence!, generated: new Uint8Array(early.length) },
    { ...sequence!, generated: late },
  ]
  const reads = whole.reads.map((r) => ({ ...r, sequence: r.call.start < cut ? 0 : 2 }))
  const split = change((t) => (t.index === 1 && t.group === 0 ? { sequences, reads } : {}))
  const before = assignCredit(groups, options).sequences
  const after = assignCredit(split, options).sequences
  expect(after.length).toBe(before.length + 1)
  expect(after.slice(1, 3).map((s) => s.sequence)).toEqual([0, 2])
  for (const field of ['channel', 'advantage', 'weight', 'klWeight'] as const) {
    const joined = Array.from(after[1]![field], (value, t) => value + after[2]![field][t]!)
    expect(joined).toEqual(Array.from(before[1]![field]))
  }
})

test('says how the advantages fall', () => {
  const { statistics } = assignCredit(groups, options)
  const outcome = goldenBatches[0]!.expected.clean_oracle.outcome_advantage
  const actions = goldenBatches[0]!.expected.clean_oracle.action_advantage.flat()
  expect(statistics).toMatchObject({
    positive: outcome.filter((a) => a > 0).length / 16,
    negative: outcome.filter((a) => a < 0).length / 16,
    activePositive: actions.filter((a) => a > 0).length,
    activeNegative: actions.filter((a) => a < 0).length,
    reads: actions.length,
    zeroVariance: 0,
  })
  const equal = change((t) => ({ reward: t.group === 0 ? 0.4 : t.reward }))
  expect(assignCredit(equal, options).statistics.zeroVariance).toBe(0.5)
})

test('a kernel that gives credit outside its support is found out', () => {
  const everywhere: typeof maskTokensReference = (input) => {
    const masks = maskTokensReference(input)
    return { ...masks, channel: masks.channel.fill(1) }
  }
  const inCalls: typeof maskTokensReference = (input) =>
    maskTokensReference({ ...input, readCalls: 'included' })
  expect(() => assignCredit(groups, { ...options, maskTokens: everywhere })).toThrow(/did not sample/)
  expect(() => assignCredit(groups, { ...options, maskTokens: inCalls })).toThrow(/inside a read call/)
})

test('a method that miscounts or is not finite, and a bad coefficient, are refused', () => {
  const short = { ...skillgate, name: 'short', outcome: () => new Float64Array(3) }
  const nan = { ...skillgate, name: 'nan', outcome: () => new Float64Array(8).fill(Number.NaN) }
  expect(() => assignCredit(groups, { ...options, method: short })).toThrow(
    /8 advantages in outcome of method 'short'/,
  )
  expect(() => assignCredit(groups, { ...options, method: nan })).toThrow(/finite advantages of method 'nan'/)
  expect(() => assignCredit(groups, { ...options, selectorCoefficient: -1 })).toThrow(/selectorCoefficient/)
  expect(() => assignCredit(groups, { ...options, selectorCoefficient: Number.NaN })).toThrow(
    /selectorCoefficient/,
  )
})
