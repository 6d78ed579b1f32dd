import type { AccumulateResult } from '../policy/policy.js'
import type { MicroBatch } from './pack.js'

export interface PassStatistics {
  /** KL term included. 0 on policy by construction, up to rounding: look at gradNorm for whether anything is learned. */
  loss: number
  /** Without its coefficient. */
  klLoss: number
  /** sum weight * -logprob: what supervised training brings down; with weights that sum to 1, the mean loss of a token. */
  negativeLogprob: number
  /** Before clipping. NaN where no norm was computed. */
  gradNorm: number
  skipped: boolean
  /** Fraction of the policy-gradient tokens on the clipped branch. */
  clippedFraction: number
  /** Mean over tokens with a weight, in nats. */
  entropy: number
  /** Largest |logprob - behaviour logprob| of a policy-gradient token. */
  maxLogRatio: number
  /** Tokens with a weight. */
  tokens: number
}

/** Sums up the micro-batches of one pass, in float64. */
export class PassRecorder {
  #loss = 0
  #klLoss = 0
  #negativeLogprob = 0
  #entropy = 0
  #clipped = 0
  #gradientTokens = 0
  #tokens = 0
  #maxLogRatio = 0

  add(batch: MicroBatch, result: AccumulateResult): void {
    this.#loss += result.loss
    this.#klLoss += result.klLoss
    for (let t = 0; t < batch.tokens.length; t++) {
      const gradient = batch.weight[t] !== 0
      if (!gradient && batch.klWeight[t] === 0) continue
      this.#tokens += 1
      this.#entropy += result.entropy[t]!
      if (!gradient) continue
      this.#gradientTokens += 1
      this.#clipped += result.clipped[t]!
      this.#negativeLogprob -= batch.weight[t]! * result.logprob[t]!
      if (batch.behaviourLogprob === undefined) continue
      const ratio = Math.abs(result.logprob[t]! - batch.behaviourLogprob[t]!)
      if (!(ratio <= this.#maxLogRatio)) this.#maxLogRatio = ratio
    }
  }

  stepped(gradNorm: number): PassStatistics {
    return this.#statistics(gradNorm, false)
  }

  skipped(gradNorm = Number.NaN): PassStatistics {
    return this.#statistics(gradNorm, true)
  }

  #statistics(gradNorm: number, skipped: boolean): PassStatistics {
    return {
      loss: this.#loss,
      klLoss: this.#klLoss,
      negativeLogprob: this.#negativeLogprob,
      gradNorm,
      skipped,
      clippedFraction: this.#clipped / Math.max(1, this.#gradientTokens),
      entropy: this.#entropy / Math.max(1, this.#tokens),
      maxLogRatio: this.#maxLogRatio,
      tokens: this.#tokens,
    }
  }
}

/** Means over passes (0 for none); the largest of `maxLogRatio`; skipped where any pass was. */
export function meanStatistics(passes: readonly PassStatistics[]): PassStatistics {
  const mean = (field: Exclude<keyof PassStatistics, 'skipped'>) =>
    passes.reduce((sum, pass) => sum + pass[field], 0) / Math.max(1, passes.length)
  return {
    loss: mean('loss'),
    klLoss: mean('klLoss'),
    negativeLogprob: mean('negativeLogprob'),
    gradNorm: mean('gradNorm'),
    skipped: passes.some((pass) => pass.skipped),
    clippedFraction: mean('clippedFraction'),
    entropy: mean('entropy'),
    maxLogRatio: Math.max(0, ...passes.map((pass) => pass.maxLogRatio)),
    tokens: passes[0]?.tokens ?? 0,
  }
}
