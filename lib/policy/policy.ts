/** What the rest of skillgate knows of a model: token ids in, numbers out. Shapes: T tokens of S sequences laid end to end. */

/** Sequences laid end to end: `sequenceOffsets` has S+1 entries, from 0 to T, strictly increasing. */
export interface PackedSequences {
  tokens: Int32Array
  sequenceOffsets: Int32Array
}

export interface SampleOptions {
  /** 0 takes the most likely token. Default 1. */
  temperature?: number
  /** Keep the smallest set of tokens whose probability reaches this; in (0, 1]. Default 1. */
  topP?: number
  /** Keep the k most likely tokens; 0 keeps all. Default 0. */
  topK?: number
  /** Keep tokens at least this fraction as likely as the likeliest; in [0, 1]. Default 0. */
  minP?: number
  /** The same seed, context and weights give the same tokens, whatever else runs beside. Default 0. */
  seed?: number | bigint
}

/** A cache of one growing context; `tokens` of a request is always the whole context, the session only saves work. */
export interface GenerationSession {
  readonly id: number
  fork(): GenerationSession
  close(): void
}

export interface GenerateRequest extends SampleOptions {
  session?: GenerationSession
  /** The whole context, at least one token. */
  tokens: Int32Array
  maxTokens: number
  stopTokens?: readonly number[]
  signal?: AbortSignal
}

export interface GenerateResult {
  /** The sampled ids; a stop token that ended the request is the last of them. */
  tokens: Int32Array
  /** Of the full distribution at the request's temperature (temperature 0: at 1), before top-k, top-p and min-p. */
  logprobs: Float32Array
  finishReason: 'stop' | 'length' | 'aborted'
}

export interface LossOptions {
  temperature?: number
  clipLow?: number
  clipHigh?: number
  dualClip?: number
  kl?: 'k1' | 'k2' | 'k3'
  klCoefficient?: number
}

/** Per-token arrays of length T; weights are absolute. The first token of a sequence must have weight 0. */
export interface AccumulateRequest extends PackedSequences, LossOptions {
  advantage: Float32Array
  weight: Float32Array
  klWeight?: Float32Array
  /** Absent: the current one, so that every ratio is 1 (SFT, DPO). */
  behaviourLogprob?: Float32Array
  referenceLogprob?: Float32Array
}

export interface AccumulateResult {
  loss: number
  klLoss: number
  logprob: Float32Array
  entropy: Float32Array
  clipped: Uint8Array
}

export interface StepOptions {
  learningRate: number
  betas?: readonly [number, number]
  eps?: number
  weightDecay?: number
  maxGradNorm?: number
}

export interface StepResult {
  gradNorm: number
  /** The norm was not finite: nothing changed but the gradients, which were cleared. */
  skipped: boolean
}

export interface LogprobsRequest extends PackedSequences {
  temperature?: number
  wanted?: Uint8Array
}

export interface Policy {
  readonly device: string
  readonly vocabularySize: number
  /** Longest context the model was made for, in tokens. */
  readonly maxContext: number
  /** Optimizer steps taken; every trajectory records it. */
  readonly version: number
  readonly parameters: readonly { name: string; shape: readonly number[] }[]

  /**
   * Entry t: token t given those before it in its sequence; 0 for the first token of each, and where `wanted` [T], if given, is 0: such
   * tokens cost nothing but their part of the context.
   */
  logprobs(request: LogprobsRequest & { signal?: AbortSignal }): Promise<{
    logprob: Float32Array
    entropy: Float32Array
  }>
  /** Adds the gradient of the loss to the accumulated gradients. */
  accumulate(request: AccumulateRequest & { signal?: AbortSignal }): Promise<AccumulateResult>
  /** AdamW on the accumulated gradients, which are cleared. */
  step(options: StepOptions): Promise<StepResult>
  zeroGradients(): Promise<void>

  openSession(): GenerationSession
  generate(request: GenerateRequest): Promise<GenerateResult>

  parameter(name: string): Promise<Float32Array>
  gradient(name: string): Promise<Float32Array>
  save(dir: string): Promise<void>
  saveOptimizer(file: string): Promise<void>
  loadOptimizer(file: string): Promise<void>
  dispose(): void
}
