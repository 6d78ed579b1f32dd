import type {
  AccumulateRequest,
  AccumulateResult,
  PackedSequences,
  Policy,
  StepOptions,
  StepResult,
} from '../../lib/policy/policy.js'

/** A logprob that is a function of the token, its place and the weights' version alone. */
export function logprobOf(token: number, place: number, version: number): number {
  return Math.fround(-1 - ((token * 7 + place * 3 + version) % 11) / 8)
}

/** Computes the loss from its definition, keeps the calls, and sums `weight` where a model would sum gradients. */
export class RecordingPolicy {
  readonly calls: string[] = []
  readonly requests: AccumulateRequest[] = []
  version = 0
  gradient = 0
  /** Replaces results, by number of the accumulate call. */
  edit: (result: AccumulateResult, call: number) => AccumulateResult = (result) => result
  nextStep: StepResult | undefined

  /** As the update sees it: the members it has no business with are absent. */
  get policy(): Policy {
    return this as unknown as Policy
  }

  async logprobs(request: PackedSequences): Promise<{ logprob: Float32Array; entropy: Float32Array }> {
    this.calls.push('logprobs')
    return { logprob: this.#logprobs(request), entropy: new Float32Array(request.tokens.length) }
  }

  async accumulate(request: AccumulateRequest): Promise<AccumulateResult> {
    this.calls.push('accumulate')
    this.requests.push(request)
    const {
      tokens,
      weight,
      klWeight,
      advantage,
      behaviourLogprob,
      referenceLogprob,
      klCoefficient = 0,
    } = request
    const logprob = this.#logprobs(request)
    const entropy = new Float32Array(tokens.length)
    const clipped = new Uint8Array(tokens.length)
    let loss = 0
    let klLoss = 0
    for (let t = 0; t < tokens.length; t++) {
      if (weight[t] !== 0) {
        const ratio = Math.exp(logprob[t]! - (behaviourLogprob?.[t] ?? logprob[t]!))
        const bounded = Math.min(Math.max(ratio, 0.8), 1.28)
        const terms = [-ratio * advantage[t]!, -bounded * advantage[t]!] as const
        clipped[t] = terms[1] > terms[0] ? 1 : 0
        loss += weight[t]! * Math.max(...terms)
        this.gradient += weight[t]!
      }
      if (klWeight && klWeight[t] !== 0 && referenceLogprob) {
        klLoss += klWeight[t]! * (logprob[t]! - referenceLogprob[t]!)
      }
      if (weight[t] !== 0 || (klWeight?.[t] ?? 0) !== 0) entropy[t] = 2
      else logprob[t] = 0
    }
    const result = { loss: loss + klCoefficient * klLoss, klLoss, logprob, entropy, clipped }
    return this.edit(result, this.requests.length - 1)
  }

  async step(_: StepOptions): Promise<StepResult> {
    this.calls.push('step')
    const result = this.nextStep ?? { gradNorm: Math.abs(this.gradient), skipped: false }
    if (!result.skipped) this.version += 1
    this.gradient = 0
    return result
  }

  async zeroGradients(): Promise<void> {
    this.calls.push('zeroGradients')
    this.gradient = 0
  }

  #logprobs({ tokens, sequenceOffsets }: PackedSequences): Float32Array {
    const logprob = new Float32Array(tokens.length)
    for (let s = 0; s + 1 < sequenceOffsets.length; s++)
      for (let t = sequenceOffsets[s]!; t < sequenceOffsets[s + 1]!; t++)
        logprob[t] = logprobOf(tokens[t]!, t - sequenceOffsets[s]!, this.version)
    return logprob
  }
}
