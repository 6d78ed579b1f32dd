import type { ReadCategory, SkillCategory } from '../skills/skill.js'

/** A half-open range; of token indices within one sequence where nothing else is said. */
export interface TokenRange {
  start: number
  end: number
}

/**
 * One token sequence of a trajectory. All arrays have the length of `tokens`.
 * Every sampled token of a trajectory is `generated` in exactly one of its sequences.
 */
export interface TrajectorySequence {
  tokens: Int32Array
  /** 1 = sampled by the policy in this sequence, 0 = prompt, tool result, template text, or trained in an earlier sequence. */
  generated: Uint8Array
  /** Logprob under the behaviour policy; 0 where not generated. */
  logprobs: Float32Array
  /** The sampled part of each assistant turn. */
  turns: TokenRange[]
}

/** A complete tool call whose result was given back to the policy. */
export interface DispatchedCall {
  id: string
  tool: string
  arguments: Record<string, unknown>
  sequence: number
  turn: number
  /** Byte range of the call, opening and closing tags included, within the bytes of the turn's tokens. */
  bytes: TokenRange
}

/** What the agent was shown, in order. */
export interface SlateEntry {
  name: string
  location: string
  category?: SkillCategory
}

/** A dispatched tool call that read a skill's SKILL.md or README.md. */
export interface SkillRead {
  skill: string
  category: ReadCategory
  tool: string
  /** Index into the trajectory's sequences; the ranges count within that sequence. */
  sequence: number
  turn: number
  call: TokenRange
  identity: TokenRange
}

export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  /** Of a tool message: the tool that answered. */
  name?: string
}

export interface Failure {
  code: string
  message: string
}

export interface Trajectory {
  task: string
  /** Draw number of the group within the step, and place within the group. */
  group: number
  index: number
  seed: number
  policyVersion: number
  sequences: TrajectorySequence[]
  slate: SlateEntry[]
  calls: DispatchedCall[]
  reads: SkillRead[]
  /** False: the task has no oracle label. */
  labelled: boolean
  /** null: the rollout failed (see `failure`) and takes no part in its group. */
  reward: number | null
  failure?: Failure
  /** True where a turn was cut off by a token limit. */
  truncated: boolean
  turns: number
  messages: Message[]
  details?: Record<string, unknown>
}

/** The rollouts of one task in one step. */
export interface Group {
  task: string
  index: number
  trajectories: Trajectory[]
}

/** The trajectories of a group that have a reward; failed ones take no part in its statistics or its gradient. */
export function survivors(group: Group): (Trajectory & { reward: number })[] {
  return group.trajectories.filter((t): t is Trajectory & { reward: number } => t.reward !== null)
}

/** True where no reward differs from another: such a group says nothing about what to do better. */
export function allEqual(rewards: readonly number[]): boolean {
  return rewards.every((reward) => reward === rewards[0])
}
