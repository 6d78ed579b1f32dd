import type { ReadCategory } from '../skills/skill.js'

/** What the audit knows of one trajectory: counts only, so that a run of any size fits in memory. */
export interface Observation {
  step: number
  /** Tells the group within its step. */
  group: string
  task: string
  /** null: the rollout failed and takes no part in its group. */
  reward: number | null
  /** Tokens the policy sampled: the base mask. */
  generated: number
  /** Tokens after the first prompt, tool results included; null where unknown. */
  response: number | null
  /** Sampled tokens inside the call spans of reads, each counted once. */
  call: number
  /** Sampled tokens that name the skill in these calls, each counted once. */
  identity: number
  /** One entry a read action. */
  reads: ReadCategory[]
  /** False: the task names no oracle. */
  labelled: boolean
  /** True: the trainer left this group out of its update. */
  dropped: boolean
}

/** An observation that can be measured: it has a reward and at least one sampled token. */
export interface Scored extends Observation {
  reward: number
  /** Outcome advantage within its group. */
  advantage: number
}
