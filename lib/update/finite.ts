import type { MicroBatch, TrainSequence } from './pack.js'

/**
 * Names the first number of a batch that has weight and is not finite, or undefined. Fields of tokens without weight
 * are not looked at: whatever they hold has no effect.
 */
export function findUnusable(sequences: readonly TrainSequence[]): string | undefined {
  for (const [s, { tokens, weight, klWeight, advantage, behaviourLogprob }] of sequences.entries()) {
    for (let t = 0; t < tokens.length; t++) {
      const bad = (field: string, value: number | undefined) =>
        `${field} at token ${t} of sequence ${s} is ${value}`
      if (!Number.isFinite(weight[t])) return bad('weight', weight[t])
      if (klWeight && !Number.isFinite(klWeight[t])) return bad('klWeight', klWeight[t])
      if (weight[t] === 0) continue
      if (!Number.isFinite(advantage[t])) return bad('advantage', advantage[t])
      if (behaviourLogprob && !Number.isFinite(behaviourLogprob[t]))
        return bad('behaviourLogprob', behaviourLogprob[t])
    }
  }
  return undefined
}

/** Names the first value of a per-token array of a micro-batch that has a weight and is not finite, or undefined. */
export function findNotFinite(
  batch: MicroBatch,
  field: string,
  values: Float32Array,
  counts: (t: number) => boolean,
): string | undefined {
  for (const [i, sequence] of batch.indices.entries()) {
    const start = batch.sequenceOffsets[i]!
    for (let t = start; t < batch.sequenceOffsets[i + 1]!; t++) {
      if (counts(t) && !Number.isFinite(values[t]))
        return `${field} at token ${t - start} of sequence ${sequence} is ${values[t]}`
    }
  }
  return undefined
}
