import type { Policy } from '../policy/policy.js'
import { packMicroBatches, type TrainSequence } from './pack.js'

/** A sequence with the turn it is about: `generated` is 1 on that turn's tokens. */
export interface TurnSequence {
  tokens: Int32Array
  generated: Uint8Array
}

/** A preference: two places in a list of sequences, the better one first. */
export interface Pair {
  chosen: number
  rejected: number
}

export interface DpoLoss {
  /** Mean over pairs of -ln sigmoid(margin), in nats. */
  loss: number
  /** beta ((log p_c - log q_c) - (log p_r - log q_r)) of each pair. */
  margins: Float64Array
  /** dloss / dlog p of each sequence. */
  gradient: Float64Array
}

/** The log-probability of each sequence's turn: the sum over its tokens, in float64. */
export async function turnLogprobs(
  policy: Pick<Policy, 'logprobs'>,
  sequences: readonly TurnSequence[],
  options: { microBatchTokens: number; signal?: AbortSignal },
): Promise<Float64Array> {
  const sums = new Float64Array(sequences.length)
  const weighted = sequences.map(({ tokens, generated }) => ({
    tokens,
    advantage: new Float32Array(tokens.length),
    weight: Float32Array.from(generated),
  }))
  for (const { tokens, sequenceOffsets, weight, indices } of packMicroBatches(weighted, options)) {
    const { logprob } = await policy.logprobs({ tokens, sequenceOffsets, signal: options.signal })
    for (const [i, index] of indices.entries()) {
      for (let t = sequenceOffsets[i]!; t < sequenceOffsets[i + 1]!; t++)
        if (weight[t] !== 0) sums[index]! += logprob[t]!
    }
  }
  return sums
}

/**
 * The DPO loss of P pairs (sigmoid form), from the turns' log-probabilities under the policy, p, and the reference, q:
 *   m = beta ((log p_c - log q_c) - (log p_r - log q_r)),  loss = mean of -ln sigmoid(m),
 *   dloss / dlog p_c = -beta sigmoid(-m) / P = -dloss / dlog p_r.
 */
export function dpoLoss(
  pairs: readonly Pair[],
  logprob: Float64Array,
  reference: Float64Array,
  beta: number,
): DpoLoss {
  const gradient = new Float64Array(logprob.length)
  const ratio = (i: number) => logprob[i]! - reference[i]!
  const margins = Float64Array.from(pairs, ({ chosen, rejected }) => beta * (ratio(chosen) - ratio(rejected)))
  let loss = 0
  for (const [i, { chosen, rejected }] of pairs.entries()) {
    const m = margins[i]!
    // ln(1 + exp(-m)) without overflow.
    loss += (Math.max(0, -m) + Math.log1p(Math.exp(-Math.abs(m)))) / pairs.length
    const slope = beta / (1 + Math.exp(m)) / pairs.length
    gradient[chosen]! -= slope
    gradient[rejected]! += slope
  }
  return { loss, margins, gradient }
}

/**
 * Sequences whose policy-gradient loss has the gradient of the DPO loss: the loss -w A log p of a token has the gradient -w A, and every token
 * of a turn has its turn's, so w = |dloss / dlog p| and A = -sign(dloss / dlog p).
 */
export function dpoSequences(sequences: readonly TurnSequence[], gradient: Float64Array): TrainSequence[] {
  return sequences.map(({ tokens, generated }, i) => ({
    tokens,
    advantage: new Float32Array(tokens.length).fill(-Math.sign(gradient[i]!)),
    weight: Float32Array.from(generated, (flag) => flag * Math.abs(gradient[i]!)),
  }))
}
