import { allEqual, type SkillRead } from '../rollout/trajectory.js'

/** Keeps the advantage finite where the rewards of a group are nearly equal. */
const EPSILON = 1e-6

/**
 * Outcome advantage of one group, rewards r [n]:  A = (r - mean) / (std + 1e-6), std with n-1.
 * All rewards equal, and so a group of one: exactly 0. Sums run over sorted values, so permuting the rewards permutes
 * the result bit for bit.
 */
export function outcomeAdvantage(rewards: readonly number[]): Float64Array {
  const n = rewards.length
  const advantage = new Float64Array(n)
  if (allEqual(rewards)) return advantage
  // Squares of rewards beyond this would overflow; scaling all of them scales mean, std and epsilon alike.
  const largest = rewards.reduce((most, r) => Math.max(most, Math.abs(r)), 0)
  const scale = largest > 1e100 ? largest : 1
  const scaled = Float64Array.from(rewards, (r) => r / scale)
  const mean = sortedSum(scaled) / n
  const std = Math.sqrt(sortedSum(scaled.map((r) => (r - mean) ** 2)) / (n - 1))
  return scaled.map((r) => (r - mean) / (std + EPSILON / scale))
}

/**
 * Selector advantage of one group: utility - mean utility over every read of the group, no std.
 * utilities[i][j]: read j of trajectory i. All utilities equal: exactly 0, the group is inactive.
 */
export function selectorAdvantage(utilities: readonly (readonly number[])[]): Float64Array[] {
  const all = utilities.flat()
  if (allEqual(all)) return utilities.map((reads) => new Float64Array(reads.length))
  const mean = sortedSum(Float64Array.from(all)) / all.length
  return utilities.map((reads) => Float64Array.from(reads, (utility) => utility - mean))
}

/** 1 where the trajectory's only read is the oracle, else 0 for every read. */
export function cleanOracleUtility(reads: readonly SkillRead[]): number[] {
  return reads.map((read) => (reads.length === 1 && read.category === 'oracle' ? 1 : 0))
}

/** 1 for the first read of the oracle, whatever else was read; 0 for the others. */
export function firstOracleUtility(reads: readonly SkillRead[]): number[] {
  const first = reads.findIndex((read) => read.category === 'oracle')
  return reads.map((_, i) => (i === first ? 1 : 0))
}

/** The sum in ascending order: the same bits whatever the order of the values. */
export function sortedSum(values: Float64Array): number {
  return values.toSorted().reduce((sum, value) => sum + value, 0)
}
