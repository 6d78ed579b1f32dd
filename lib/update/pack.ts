import { SkillgateError } from '../errors.js'
import type { PackedSequences } from '../policy/policy.js'

/** One sequence to train on; per-token arrays have the length of `tokens`, weights are absolute. */
export interface TrainSequence {
  tokens: Int32Array
  advantage: Float32Array
  weight: Float32Array
  klWeight?: Float32Array
  /** Absent: the current logprob, so that every ratio is 1. Given for all sequences of a batch or for none. */
  behaviourLogprob?: Float32Array
}

/** Sequences laid end to end; per-token arrays of length T. */
export interface MicroBatch extends PackedSequences {
  /** Which sequences of the batch these are. */
  indices: number[]
  advantage: Float32Array
  weight: Float32Array
  klWeight: Float32Array
  behaviourLogprob?: Float32Array
}

export interface PackOptions {
  /** Most tokens a micro-batch may compute; a longer sequence goes alone. */
  microBatchTokens: number
  /** The engine computes the common prefix of neighbouring sequences once, so it counts once. Default true. */
  sharePrefixes?: boolean
}

/**
 * Splits a batch into micro-batches, in the order given, so that the rollouts of a group stay neighbours. Sequences
 * without weight are left out, and each ends after its last token with a weight: what follows has no effect on it.
 */
export function packMicroBatches(sequences: readonly TrainSequence[], options: PackOptions): MicroBatch[] {
  const { microBatchTokens, sharePrefixes = true } = options
  if (!Number.isSafeInteger(microBatchTokens) || microBatchTokens < 1) {
    throw new SkillgateError(
      'ERR_INVALID_OPTION',
      `expected an integer of at least 1 for microBatchTokens, got ${microBatchTokens}`,
    )
  }
  const behaviours = sequences.filter((s) => s.behaviourLogprob !== undefined).length
  if (behaviours !== 0 && behaviours !== sequences.length) {
    throw new SkillgateError(
      'ERR_BATCH',
      `expected behaviourLogprob for all ${sequences.length} sequences or for none, got it for ${behaviours}`,
    )
  }
  const packs: { index: number; length: number }[][] = []
  let cost = 0
  let previous: Int32Array | undefined
  for (const [index, sequence] of sequences.entries()) {
    checkLengths(sequence, index)
    const length = weightedLength(sequence)
    if (length === 0) continue
    const tokens = sequence.tokens.subarray(0, length)
    const added = length - (sharePrefixes && previous ? commonPrefix(previous, tokens) : 0)
    const open = packs.at(-1)
    if (open && cost + added <= microBatchTokens) {
      open.push({ index, length })
      cost += added
    } else {
      packs.push([{ index, length }])
      cost = length
    }
    previous = tokens
  }
  return packs.map((pack) => layOut(sequences, pack))
}

function layOut(sequences: readonly TrainSequence[], pack: { index: number; length: number }[]): MicroBatch {
  const sequenceOffsets = new Int32Array(pack.length + 1)
  for (const [i, { length }] of pack.entries()) sequenceOffsets[i + 1] = sequenceOffsets[i]! + length
  const total = sequenceOffsets[pack.length]!
  const join = <A extends Int32Array | Float32Array>(
    to: A,
    field: (s: TrainSequence) => A | undefined,
  ): A => {
    for (const [i, { index, length }] of pack.entries()) {
      const from = field(sequences[index]!)
      if (from) to.set(from.subarray(0, length), sequenceOffsets[i])
    }
    return to
  }
  const behaviour = sequences[pack[0]!.index]!.behaviourLogprob !== undefined
  return {
    indices: pack.map(({ index }) => index),
    sequenceOffsets,
    tokens: join(new Int32Array(total), (s) => s.tokens),
    advantage: join(new Float32Array(total), (s) => s.advantage),
    weight: join(new Float32Array(total), (s) => s.weight),
    klWeight: join(new Float32Array(total), (s) => s.klWeight),
    ...(behaviour && { behaviourLogprob: join(new Float32Array(total), (s) => s.behaviourLogprob) }),
  }
}

function checkLengths(sequence: TrainSequence, index: number): void {
  const n = sequence.tokens.length
  for (const field of ['advantage', 'weight', 'klWeight', 'behaviourLogprob'] as const) {
    const got = sequence[field]?.length
    if (got === undefined || got === n) continue
    throw new SkillgateError(
      'ERR_BATCH',
      `expected ${n} values in ${field} of sequence ${index}, one a token, got ${got}`,
    )
  }
}

/** Length up to the last token with a weight (NaN counts as one, to be found and reported). */
function weightedLength({ tokens, weight, klWeight }: TrainSequence): number {
  let t = tokens.length
  while (t > 0 && weight[t - 1] === 0 && (klWeight?.[t - 1] ?? 0) === 0) t -= 1
  return t
}

/** A shorter common prefix is computed for each sequence anew. */
const SHORTEST_SHARED = 8

function commonPrefix(a: Int32Array, b: Int32Array): number {
  const most = Math.min(a.length, b.length)
  let n = 0
  while (n < most && a[n] === b[n]) n += 1
  return n < SHORTEST_SHARED ? 0 : n
}
