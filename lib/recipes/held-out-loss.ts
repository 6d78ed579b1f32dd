import { packMicroBatches } from '../update/pack.js'
import { lossSequences, type TokenizedDemonstration } from './sft-data.js'
import type { Policy } from './stage.js'

/** Mean negative logprob of a trained token of the demonstrations, in nats; NaN where there is none. */
export async function heldOutLoss(
  policy: Policy,
  demonstrations: readonly TokenizedDemonstration[],
  microBatchTokens: number,
  signal?: AbortSignal,
): Promise<number> {
  const packs = packMicroBatches(lossSequences(demonstrations), { microBatchTokens })
  let loss = packs.length === 0 ? Number.NaN : 0
  for (const { tokens, sequenceOffsets, weight } of packs) {
    const { logprob } = await policy.logprobs({ tokens, sequenceOffsets, signal })
    for (let t = 0; t < tokens.length; t++) loss -= weight[t]! * logprob[t]!
  }
  return loss
}
