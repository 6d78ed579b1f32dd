import { survivors, type Trajectory } from '../../rollout/trajectory.js'
import { outcomeAdvantage } from '../advantages.js'
import { type CreditMethod, isLabelled } from '../method.js'
import { grpo } from './grpo.js'

const ORACLE_READ = 0.3
const MISLEADING_READ = -0.3
const SUCCESS_WITHOUT_READ = 0.35

/**
 * One channel, as grpo, on a reward with a bonus b for what the trajectory read:  A = (r + b - mean) / (std + 1e-6).
 *   b = -0.30 with any misleading read; else +0.30 with an oracle read; +0.35 without a read where r > 0; else 0.
 * Without an oracle label b is 0: which reads are good is not known, and a bonus for none alone would teach not to read.
 */
export const trajectoryBonus: CreditMethod = {
  ...grpo,
  name: 'trajectory-bonus',
  labels: 'needed',
  outcome: (group) =>
    outcomeAdvantage(survivors(group).map((t) => t.reward + (isLabelled(group) ? bonus(t) : 0))),
}

function bonus({ reads, reward }: Trajectory & { reward: number }): number {
  if (reads.length === 0) return reward > 0 ? SUCCESS_WITHOUT_READ : 0
  if (reads.some((read) => read.category === 'misleading')) return MISLEADING_READ
  return reads.some((read) => read.category === 'oracle') ? ORACLE_READ : 0
}
