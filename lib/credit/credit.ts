import type { MaskTokensInput, MaskTokensResult } from '../addon/addon-types.js'
import { kernels } from '../addon/kernels.js'
import { SkillgateError } from '../errors.js'
import type { Group, TokenRange, Trajectory } from '../rollout/trajectory.js'
import { type CreditMemory, type CreditMethod, inFirstCall } from './method.js'
import { type ScoredTrajectory, type ScoreStatistics, scoreGroups, scoreStatistics } from './score.js'

export const CHANNEL_NONE = 0
export const CHANNEL_EXECUTION = 1
export const CHANNEL_SELECTION = 2

/** One sequence of a trajectory with its credit; all arrays have the length of `tokens`. */
export interface CreditedSequence {
  trajectory: Trajectory
  /** Index into `trajectory.sequences`. */
  sequence: number
  tokens: Int32Array
  generated: Uint8Array
  behaviourLogprob: Float32Array
  /** 0 none, 1 execution, 2 selection. */
  channel: Uint8Array
  advantage: Float32Array
  /** Absolute: normalisers and lambda are inside, so that any split of the batch sums to the same loss. */
  weight: Float32Array
  klWeight: Float32Array
}

export interface CreditStatistics extends ScoreStatistics {
  /** B: tokens the policy sampled, in the trajectories that take part. */
  generatedTokens: number
  executionTokens: number
  selectionTokens: number
}

export interface CreditedBatch {
  /** In order of group, trajectory, sequence; sequences without a sampled token are left out. */
  sequences: CreditedSequence[]
  statistics: CreditStatistics
}

export interface CreditOptions {
  method: CreditMethod
  /** What the method has gathered before this step; `method.learn` gives what it has after it. */
  memory?: CreditMemory
  /** lambda: what the selection channel weighs against the execution channel. Default 0.2. */
  selectorCoefficient?: number
  /** The kernel that spreads advantages over tokens; the addon's unless another is given. */
  maskTokens?: (input: MaskTokensInput) => MaskTokensResult
}

/**
 * Credit for one update batch. The weights are normalised over all of `groups`, so this comes before any split.
 * Trajectories without a reward take no part. A method that needs labels takes read calls for tokens like any others in a group without.
 */
export function assignCredit(groups: readonly Group[], options: CreditOptions): CreditedBatch {
  const { method, memory, selectorCoefficient = 0.2, maskTokens = kernels.maskTokens } = options
  if (!(Number.isFinite(selectorCoefficient) && selectorCoefficient >= 0)) {
    throw new SkillgateError(
      'ERR_INVALID_OPTION',
      `expected a number of at least 0 for selectorCoefficient, got ${selectorCoefficient}`,
    )
  }
  const scored = scoreGroups(groups, method, memory)
  const { rows, reads, tokens } = layOut(scored, method)
  const figures = scoreStatistics(groups, scored)
  if (tokens === 0) {
    return {
      sequences: [],
      statistics: { ...figures, generatedTokens: 0, executionTokens: 0, selectionTokens: 0 },
    }
  }
  const input = {
    sequenceOffsets: Int32Array.from([...rows.map((row) => row.start), tokens]),
    generated: new Uint8Array(tokens),
    outcomeAdvantage: Float32Array.from(rows, (row) => row.outcome),
    reads: {
      callStart: Int32Array.from(reads, (read) => read.call.start),
      callEnd: Int32Array.from(reads, (read) => read.call.end),
      identityStart: Int32Array.from(reads, (read) => read.identity.start),
      identityEnd: Int32Array.from(reads, (read) => read.identity.end),
      advantage: Float32Array.from(reads, (read) => read.advantage),
    },
    selectorCoefficient,
    readCalls: method.readCalls === 'included' ? ('included' as const) : ('excluded' as const),
  }
  for (const row of rows) input.generated.set(row.trajectory.sequences[row.sequence]!.generated, row.start)
  const masks = maskTokens(input)
  checkSupports(masks.channel, input.generated, reads, method)
  return {
    sequences: rows.map(({ trajectory, sequence, start, end }) => {
      const { tokens, generated, logprobs } = trajectory.sequences[sequence]!
      return {
        trajectory,
        sequence,
        tokens,
        generated,
        behaviourLogprob: logprobs,
        channel: masks.channel.slice(start, end),
        advantage: masks.advantage.slice(start, end),
        weight: masks.weight.slice(start, end),
        klWeight: masks.klWeight.slice(start, end),
      }
    }),
    statistics: {
      ...figures,
      generatedTokens: masks.generatedCount,
      executionTokens: countOf(masks.channel, CHANNEL_EXECUTION),
      selectionTokens: countOf(masks.channel, CHANNEL_SELECTION),
    },
  }
}

/** A sequence's place in the flat arrays of the batch. */
interface Row extends TokenRange {
  trajectory: Trajectory
  sequence: number
  outcome: number
}

/** A read with its ranges in the flat arrays. */
interface FlatRead {
  call: TokenRange
  identity: TokenRange
  advantage: number
}

function layOut(
  scored: readonly ScoredTrajectory[],
  { readCalls }: CreditMethod,
): { rows: Row[]; reads: FlatRead[]; tokens: number } {
  const rows: Row[] = []
  const reads: FlatRead[] = []
  let end = 0
  for (const { trajectory, readsApart, outcome, actions } of scored) {
    const starts = trajectory.sequences.map((sequence, i) => {
      if (!sequence.generated.includes(1)) return undefined
      const start = end
      end += sequence.tokens.length
      rows.push({ trajectory, sequence: i, outcome, start, end })
      return start
    })
    if (!readsApart) continue
    for (const [i, read] of trajectory.reads.entries()) {
      const start = starts[read.sequence]
      if (start === undefined) continue
      if (readCalls === 'first excluded' && !inFirstCall(read, trajectory.reads)) continue
      reads.push({
        call: shift(read.call, start),
        identity: shift(read.identity, start),
        advantage: actions[i]!,
      })
    }
  }
  return { rows, reads, tokens: end }
}

function shift(range: TokenRange, by: number): TokenRange {
  return { start: range.start + by, end: range.end + by }
}

/** The channels exclude each other by construction; here: they lie inside what was sampled, and apart from read calls. */
function checkSupports(
  channel: Uint8Array,
  generated: Uint8Array,
  reads: readonly FlatRead[],
  method: CreditMethod,
): void {
  const refuse = (t: number, what: string) => {
    throw new SkillgateError(
      'ERR_CREDIT',
      `expected no credit at token ${t}, ${what}, got channel ${channel[t]}`,
    )
  }
  for (let t = 0; t < channel.length; t++)
    if (channel[t] !== CHANNEL_NONE && generated[t] !== 1) refuse(t, 'which the policy did not sample')
  if (method.readCalls === 'included') return
  for (const { call } of reads)
    for (let t = call.start; t < call.end; t++)
      if (channel[t] === CHANNEL_EXECUTION) refuse(t, 'inside a read call, from the outcome')
}

function countOf(channel: Uint8Array, wanted: number): number {
  let n = 0
  for (const c of channel) if (c === wanted) n += 1
  return n
}
