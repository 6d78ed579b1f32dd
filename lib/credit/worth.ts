import { allEqual, type Group, survivors } from '../rollout/trajectory.js'
import { outcomeAdvantage, sortedSum } from './advantages.js'
import type { CreditMemory } from './method.js'

/** Trajectories that must have read a skill alone, in this group and before, before its worth counts. */
export const ENOUGH_READS = 4
/** Evidence that no evidence of the skill weighs as much as: shrinks P towards 0. */
const SKILL_SHRINKAGE = 2
/** Evidence that what is known of the skill from earlier steps weighs as much as: shrinks w towards P. */
const GROUP_SHRINKAGE = 2

/** What one group says of one skill. */
interface Contrast {
  /** n: trajectories that read it and nothing else; 0 where no other trajectory is there to compare with. */
  reads: number
  /** e = n m / (n + m): what the variance of a difference of two means of n and m values is divided by. */
  evidence: number
  /** d: mean outcome advantage of the n less that of the m. */
  difference: number
}

/**
 * Contrasts of the skills k of one group, from rewards alone: with A the outcome advantage of each trajectory,
 *   d_k = mean of A over the n trajectories that read k alone - mean of A over the m that did not read k.
 * A trajectory that read k among others is in neither mean. All rewards equal: no contrast.
 */
export function contrastsOf(group: Group): Map<string, Contrast> {
  const taking = survivors(group)
  const contrasts = new Map<string, Contrast>()
  if (allEqual(taking.map(({ reward }) => reward))) return contrasts
  const outcome = outcomeAdvantage(taking.map(({ reward }) => reward))
  const trials = taking.map(({ reads }, i) => ({ A: outcome[i]!, skills: reads.map((read) => read.skill) }))
  for (const skill of new Set(trials.flatMap(({ skills }) => skills))) {
    const alone = trials.filter(({ skills }) => skills.length === 1 && skills[0] === skill)
    const others = trials.filter(({ skills }) => !skills.includes(skill))
    const [n, m] = [alone.length, others.length]
    if (n === 0 || m === 0) continue
    contrasts.set(skill, {
      reads: n,
      evidence: (n * m) / (n + m),
      difference: meanAdvantage(alone) - meanAdvantage(others),
    })
  }
  return contrasts
}

function meanAdvantage(trials: readonly { A: number }[]): number {
  return sortedSum(Float64Array.from(trials, ({ A }) => A)) / trials.length
}

/**
 * Worth of each skill read in a group; a skill without enough evidence has none. With the sums over earlier groups h of the run
 * E = sum e_h, S = sum e_h d_h, N = sum n_h of the skill, and this group's n, e and d (0 without a contrast):
 *   P = S / (E + 2)                      the skill over all tasks, shrunk towards 0
 *   w = (e d + 2 P) / (e + 2)            the skill for this task, shrunk towards P
 *   counted where n + N >= 4.
 */
export function worthsOf(group: Group, memory: CreditMemory): Map<string, number> {
  const known = new Map(memory.map(([skill, ...sums]) => [skill, sums]))
  const worths = new Map<string, number>()
  const contrasts = contrastsOf(group)
  for (const skill of new Set(survivors(group).flatMap(({ reads }) => reads.map((read) => read.skill)))) {
    const { reads = 0, evidence = 0, difference = 0 } = contrasts.get(skill) ?? {}
    const [N = 0, E = 0, S = 0] = known.get(skill) ?? []
    if (reads + N < ENOUGH_READS) continue
    const prior = S / (E + SKILL_SHRINKAGE)
    worths.set(skill, (evidence * difference + GROUP_SHRINKAGE * prior) / (evidence + GROUP_SHRINKAGE))
  }
  return worths
}

/** The memory after more groups: a row `[skill, N, E, S]` a skill, by name. */
export function withContrasts(memory: CreditMemory, groups: readonly Group[]): CreditMemory {
  const rows = new Map(memory.map(([skill, N = 0, E = 0, S = 0]) => [skill, [N, E, S] as const]))
  for (const group of groups) {
    for (const [skill, { reads, evidence, difference }] of contrastsOf(group)) {
      const [N, E, S] = rows.get(skill) ?? [0, 0, 0]
      rows.set(skill, [N + reads, E + evidence, S + evidence * difference])
    }
  }
  return [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([skill, sums]): [string, ...number[]] => [skill, ...sums])
}
