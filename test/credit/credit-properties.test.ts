import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignCredit, type CreditedSequence } from '../../lib/credit/credit.js'
import { creditMethods } from '../../lib/credit/methods/index.js'
import { trajectoryBonus } from '../../lib/credit/methods/trajectory-bonus.js'
import type { Group, SkillRead, Trajectory } from '../../lib/rollout/trajectory.js'
import type { ReadCategory } from '../../lib/skills/skill.js'
import { packMicroBatches } from '../../lib/update/pack.js'

const categories: ReadCategory[] = ['oracle', 'relevant', 'irrelevant', 'misleading', 'unadvertised']
/** Stretches of a trajectory: text of the environment, sampled text, or a sampled call that reads a skill. */
const stretch = fc.record({
  kind: fc.constantFrom('given', 'said', 'read'),
  length: fc.integer({ min: 3, max: 8 }),
  category: fc.constantFrom(...categories),
  name: fc.integer({ min: 1, max: 2 }),
})
const rollout = fc.record({
  reward: fc.constantFrom(null, 0, 0.25, 0.5, 1),
  stretches: fc.array(stretch, { maxLength: 6 }),
})
const batch = fc
  .array(fc.record({ labelled: fc.boolean(), rollouts: fc.array(rollout, { minLength: 1, maxLength: 5 }) }), {
    maxLength: 4,
  })
  .map((groups) => groups.map(({ labelled, rollouts }, g) => groupOf(rollouts, g, labelled)))

type Rollout = typeof rollout extends fc.Arbitrary<infer T> ? T : never

function groupOf(rollouts: Rollout[], index: number, labelled: boolean): Group {
  const trajectories = rollouts.map(({ reward, stretches }, place): Trajectory => {
    const generated: number[] = [0]
    const reads: SkillRead[] = []
    for (const { kind, length, category, name } of stretches) {
      const start = generated.length
      generated.push(...Array(length).fill(kind === 'given' ? 0 : 1))
      const call = { start, end: start + length }
      const identity = { start: start + 1, end: start + 1 + name }
      if (kind === 'read')
        reads.push({ skill: category, category, tool: 'read', sequence: 0, turn: 0, call, identity })
    }
    const n = generated.length
    const tokens = Int32Array.from({ length: n }, (_, t) => 100 * place + t)
    const sequence = {
      tokens,
      generated: Uint8Array.from(generated),
      logprobs: new Float32Array(n),
      turns: [],
    }
    return {
      ...{
        task: `t${index}`,
        group: index,
        index: place,
        seed: 0,
        policyVersion: 0,
        labelled,
        reward,
        reads,
      },
      ...{ sequences: [sequence], slate: [], calls: [], truncated: false, turns: 1, messages: [] },
    }
  })
  return { task: `t${index}`, index, trajectories }
}

const methods = fc.constantFrom(...creditMethods)
const credit = (groups: Group[], method: (typeof creditMethods)[number]) =>
  assignCredit(groups, { method, selectorCoefficient: 0.2 })
const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
const arrays = ({ channel, advantage, weight, klWeight }: CreditedSequence) => ({
  channel,
  advantage,
  weight,
  klWeight,
})

test('channels lie inside what was sampled, and weights sum to 1, lambda and 1', () => {
  fc.assert(
    fc.property(batch, methods, (groups, method) => {
      const { sequences, statistics } = credit(groups, method)
      const totals = [0, 0, 0]
      for (const s of sequences) {
        for (const [t, channel] of s.channel.entries()) {
          if (s.generated[t] === 0)
            expect([channel, s.weight[t], s.klWeight[t], s.advantage[t]]).toEqual([0, 0, 0, 0])
          totals[channel]! += s.weight[t]!
        }
        if (method.readCalls === 'included') continue
        if (method.labels === 'needed' && !s.trajectory.labelled) continue
        for (const [i, { call, identity }] of s.trajectory.reads.entries()) {
          const executes = method.readCalls === 'first excluded' && i > 0
          for (let t = call.start; t < call.end; t++) {
            if (executes) {
              expect(s.channel[t]).toBe(1)
              continue
            }
            const named = t >= identity.start && t < identity.end
            expect(s.channel[t]! === 0 || (named && s.channel[t] === 2)).toBe(true)
          }
        }
      }
      const active = statistics.activePositive + statistics.activeNegative > 0
      expect(totals[0]).toBe(0)
      expect(totals[1]).toBeCloseTo(statistics.executionTokens > 0 ? 1 : 0, 5)
      expect(totals[2]).toBeCloseTo(active ? 0.2 : 0, 5)
      expect(sum(sequences.flatMap((s) => [...s.klWeight]))).toBeCloseTo(
        statistics.generatedTokens > 0 ? 1 : 0,
        5,
      )
    }),
  )
})

test('adding a constant to the rewards of a group changes nothing, but where success has a bonus', () => {
  const blind = fc.constantFrom(...creditMethods.filter((method) => method !== trajectoryBonus))
  fc.assert(
    fc.property(batch, blind, fc.integer({ min: -8, max: 8 }), (groups, method, constant) => {
      const shifted = groups.map((group) => ({
        ...group,
        trajectories: group.trajectories.map((t) => ({
          ...t,
          reward: t.reward === null ? null : t.reward + constant,
        })),
      }))
      const before = credit(groups, method).sequences
      for (const [i, after] of credit(shifted, method).sequences.entries()) {
        expect(after.channel).toEqual(before[i]!.channel)
        expect(after.weight).toEqual(before[i]!.weight)
        for (const [t, advantage] of after.advantage.entries())
          expect(Math.abs(advantage - before[i]!.advantage[t]!)).toBeLessThan(1e-6)
      }
    }),
  )
})

test('permuting the rollouts of a group permutes their credit bit for bit', () => {
  const permuted = batch.chain((groups) =>
    fc.tuple(
      fc.constant(groups),
      fc.tuple(
        ...groups.map((g) => fc.shuffledSubarray(g.trajectories, { minLength: g.trajectories.length })),
      ),
    ),
  )
  fc.assert(
    fc.property(permuted, methods, ([groups, orders], method) => {
      const before = new Map(credit(groups, method).sequences.map((s) => [s.trajectory, arrays(s)]))
      const shuffled = groups.map((group, g) => ({ ...group, trajectories: orders[g]! }))
      const after = credit(shuffled, method).sequences
      expect(after.length).toBe(before.size)
      for (const s of after) expect(arrays(s)).toEqual(before.get(s.trajectory))
    }),
  )
})

test('any split into micro-batches keeps the weight of each channel', () => {
  fc.assert(
    fc.property(batch, methods, fc.integer({ min: 1, max: 80 }), (groups, method, microBatchTokens) => {
      const { sequences } = credit(groups, method)
      const packs = packMicroBatches(sequences, { microBatchTokens })
      for (const channel of [1, 2]) {
        const whole = sequences.flatMap((s) => [...s.weight].filter((_, t) => s.channel[t] === channel))
        const split = packs.flatMap((pack) =>
          pack.indices.flatMap((index, i) =>
            [...pack.weight.slice(pack.sequenceOffsets[i], pack.sequenceOffsets[i + 1])].filter(
              (_, t) => sequences[index]!.channel[t] === channel,
            ),
          ),
        )
        expect(sum(split)).toBe(sum(whole))
      }
    }),
  )
})

test('equal rewards and equal reads leave a group without credit, however many there are', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.double({ min: -3, max: 3, noNaN: true }),
      methods,
      (n, reward, method) => {
        const one = {
          reward,
          stretches: [{ kind: 'read', length: 5, category: 'oracle', name: 2 }],
        } as unknown as Rollout
        const { sequences, statistics } = credit([groupOf(Array(n).fill(one), 0, true)], method)
        for (const s of sequences) expect(s.advantage).toEqual(new Float32Array(s.advantage.length))
        expect(statistics.zeroVariance).toBe(1)
      },
    ),
  )
})
