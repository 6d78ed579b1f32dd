import type { MaskTokensInput, MaskTokensResult } from '../../lib/addon/addon-types.js'

/** maskTokens as native/backend/backend.h defines it, written from the definition, rounded to float32 at the end. */
export function maskTokensReference(input: MaskTokensInput): MaskTokensResult {
  const { sequenceOffsets, generated, outcomeAdvantage, reads, selectorCoefficient, readCalls } = input
  const n = generated.length
  const inCall = new Array<boolean>(n).fill(false)
  const owner = new Array<number>(n).fill(-1)
  for (let a = 0; a < reads.advantage.length; a++) {
    for (let t = reads.callStart[a]!; t < reads.callEnd[a]!; t++) inCall[t] = true
    for (let t = reads.identityStart[a]!; t < reads.identityEnd[a]!; t++) if (owner[t] === -1) owner[t] = a
  }
  const identityTokens = Array.from(reads.advantage, (advantage, a) =>
    advantage === 0 ? 0 : owner.filter((o, t) => o === a && generated[t] === 1).length,
  )
  const active = identityTokens.filter((count) => count > 0).length
  const channel = new Uint8Array(n)
  for (let t = 0; t < n; t++) {
    if (generated[t] !== 1) continue
    if (owner[t] !== -1 && reads.advantage[owner[t]!] !== 0) channel[t] = 2
    else if (!inCall[t] || readCalls === 'included') channel[t] = 1
  }
  const executionTokens = channel.filter((c) => c === 1).length
  const generatedCount = generated.filter((g) => g === 1).length
  const advantage = new Float32Array(n)
  const weight = new Float32Array(n)
  for (let s = 0; s + 1 < sequenceOffsets.length; s++) {
    for (let t = sequenceOffsets[s]!; t < sequenceOffsets[s + 1]!; t++) {
      const read = owner[t]!
      if (channel[t] === 1) {
        advantage[t] = outcomeAdvantage[s]!
        weight[t] = 1 / executionTokens
      } else if (channel[t] === 2) {
        advantage[t] = reads.advantage[read]!
        weight[t] = selectorCoefficient / active / identityTokens[read]!
      }
    }
  }
  return {
    channel,
    advantage,
    weight,
    klWeight: Float32Array.from(generated, (g) => (g === 1 ? 1 / generatedCount : 0)),
    generatedCount,
  }
}
