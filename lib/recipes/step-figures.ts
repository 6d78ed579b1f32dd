import type { CreditStatistics } from '../credit/credit.js'
import type { CollectResult } from '../rollout/collect.js'
import type { Trajectory } from '../rollout/trajectory.js'
import { meanStatistics } from '../update/statistics.js'
import type { UpdateStatistics } from '../update/update.js'

/** What an update without anything to train on comes to. */
export function noUpdate(...warnings: string[]): UpdateStatistics {
  return { ...meanStatistics([]), passes: [], steps: 0, skippedSteps: 0, microBatches: 0, warnings }
}

export interface StepTimes {
  rolloutSeconds: number
  updateSeconds: number
  /** Of the steps still to come, at the pace of the latest. */
  secondsLeft: number
}

/** Measures the two halves of a step. */
export class StepClock {
  readonly #now: () => number
  #begun = 0
  #played = 0
  /** Seconds a step takes, the latest ones counting most. */
  #pace: number | undefined

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  begin(): void {
    this.#begun = this.#now()
    this.#played = this.#begun
  }

  /** The rollouts are done. */
  played(): void {
    this.#played = this.#now()
  }

  end(stepsLeft: number): StepTimes {
    const end = this.#now()
    const seconds = (end - this.#begun) / 1000
    this.#pace = this.#pace === undefined ? seconds : 0.7 * this.#pace + 0.3 * seconds
    return {
      rolloutSeconds: (this.#played - this.#begun) / 1000,
      updateSeconds: (end - this.#played) / 1000,
      secondsLeft: this.#pace * stepsLeft,
    }
  }
}

const share = (trials: readonly Trajectory[], holds: (trial: Trajectory) => boolean): number | undefined =>
  trials.length === 0 ? undefined : trials.filter(holds).length / trials.length

const hasRead = (category: string) => (trial: Trajectory) =>
  trial.reads.some((read) => read.category === category)

/**
 * What a step's line in metrics.jsonl says. Rewards and reads are of every rollout played, those of dropped groups too, so that
 * dynamic sampling does not flatter them; credit and loss are of the groups trained on.
 */
export function stepFigures(
  collected: CollectResult,
  credit: CreditStatistics,
  update: UpdateStatistics,
  times: StepTimes,
) {
  const groups = [...collected.kept, ...collected.dropped.map(({ group }) => group)]
  const trials = groups.flatMap((group) => group.trajectories)
  const labelled = trials.filter((trial) => trial.labelled)
  const rewards = trials.flatMap(({ reward }) => (reward === null ? [] : [reward]))
  const sampled = trials.reduce(
    (n, { sequences }) => n + sequences.reduce((m, { generated }) => m + countOnes(generated), 0),
    0,
  )
  const { passes: _, warnings: __, skipped: ___, klLoss, ...updated } = update
  return {
    reward: rewards.reduce((sum, reward) => sum + reward, 0) / Math.max(1, rewards.length),
    oracleRead: share(labelled, hasRead('oracle')),
    misleadingRead: share(labelled, hasRead('misleading')),
    rollouts: trials.length,
    failed: trials.length - rewards.length,
    truncated: trials.filter((trial) => trial.truncated).length,
    draws: collected.draws,
    droppedEqual: collected.dropped.filter(({ reason }) => reason === 'equal-rewards').length,
    sampledTokens: sampled,
    tokensPerSecond: sampled / Math.max(1e-9, times.rolloutSeconds + times.updateSeconds),
    ...updated,
    kl: klLoss,
    credit,
    ...times,
  }
}

function countOnes(flags: Uint8Array): number {
  let n = 0
  for (const flag of flags) n += flag
  return n
}
