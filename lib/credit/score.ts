import { SkillgateError } from '../errors.js'
import { allEqual, type Group, survivors, type Trajectory } from '../rollout/trajectory.js'
import { type CreditMemory, type CreditMethod, isLabelled } from './method.js'

/** A surviving trajectory with its advantages: one for the outcome, one for each of its reads. */
export interface ScoredTrajectory {
  trajectory: Trajectory & { reward: number }
  /** False: its read calls are tokens like any others. */
  readsApart: boolean
  outcome: number
  actions: Float64Array
}

export interface ScoreStatistics {
  groups: number
  /** Trajectories with a reward; those without are counted in `failed`. */
  trajectories: number
  failed: number
  meanReward: number
  /** Fraction of groups whose rewards are all equal. */
  zeroVariance: number
  /** Fractions of trajectories whose outcome advantage is above and below 0. */
  positive: number
  negative: number
  reads: number
  oracleReads: number
  misleadingReads: number
  /** Reads with selection credit: above and below 0. */
  activePositive: number
  activeNegative: number
  /** Of the trajectories that read an oracle, the fraction with a negative outcome advantage; 0 if none did. */
  oracleReadersBlamed: number
}

/** Applies a method to each group: survivors in order of group and place. */
export function scoreGroups(
  groups: readonly Group[],
  method: CreditMethod,
  memory?: CreditMemory,
): ScoredTrajectory[] {
  return groups.flatMap((group) => {
    const taking = survivors(group)
    const outcome = method.outcome(group)
    const actions = method.actions(group, memory)
    check(method, group, 'outcome', outcome.length, taking.length)
    check(method, group, 'actions', actions.length, taking.length)
    const readsApart = method.labels === 'unused' || isLabelled(group)
    return taking.map((trajectory, i) => {
      check(method, group, `actions[${i}]`, actions[i]!.length, trajectory.reads.length)
      const scored = { trajectory, readsApart, outcome: outcome[i]!, actions: actions[i]! }
      if (!Number.isFinite(scored.outcome) || !scored.actions.every(Number.isFinite)) {
        throw new SkillgateError(
          'ERR_CREDIT',
          `expected finite advantages of method '${method.name}' for group ${group.index} (task ${group.task}), ` +
            `got outcome ${scored.outcome}, actions [${scored.actions.join(', ')}] for trajectory ${trajectory.index}`,
        )
      }
      return scored
    })
  })
}

function check(method: CreditMethod, group: Group, field: string, got: number, expected: number): void {
  if (got === expected) return
  throw new SkillgateError(
    'ERR_CREDIT',
    `expected ${expected} advantages in ${field} of method '${method.name}' for group ${group.index} ` +
      `(task ${group.task}), got ${got}`,
  )
}

export function scoreStatistics(
  groups: readonly Group[],
  scored: readonly ScoredTrajectory[],
): ScoreStatistics {
  const rewards = scored.map((s) => s.trajectory.reward)
  const reads = scored.flatMap((s) => s.trajectory.reads)
  const actions = scored.flatMap((s) => [...s.actions])
  const oracleReaders = scored.filter((s) => s.trajectory.reads.some((read) => read.category === 'oracle'))
  return {
    groups: groups.length,
    trajectories: scored.length,
    failed: groups.reduce((n, group) => n + group.trajectories.length, 0) - scored.length,
    meanReward: rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(1, rewards.length),
    zeroVariance: share(groups, (group) => allEqual(survivors(group).map((t) => t.reward))),
    positive: share(scored, (s) => s.outcome > 0),
    negative: share(scored, (s) => s.outcome < 0),
    reads: reads.length,
    oracleReads: reads.filter((read) => read.category === 'oracle').length,
    misleadingReads: reads.filter((read) => read.category === 'misleading').length,
    activePositive: actions.filter((a) => a > 0).length,
    activeNegative: actions.filter((a) => a < 0).length,
    oracleReadersBlamed: share(oracleReaders, (s) => s.outcome < 0),
  }
}

function share<T>(items: readonly T[], holds: (item: T) => boolean): number {
  return items.filter(holds).length / Math.max(1, items.length)
}
