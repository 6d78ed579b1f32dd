/**
 * The whole native surface on one page: what `skillgate.node` exports (native/binding/addon.cc holds the same table).
 * Every array is checked and copied before anything uses it. Errors are `Error`s with a `code`:
 * ERR_INVALID_ARGUMENT (type), ERR_SHAPE (length), ERR_OUT_OF_RANGE, ERR_NOT_FINITE, ERR_INVALID_TOKEN,
 * ERR_CONTEXT_LENGTH, ERR_FIRST_TOKEN_WEIGHT, ERR_UNKNOWN_PARAMETER, ERR_UNKNOWN_SESSION, ERR_NOT_TRAINABLE,
 * ERR_PARTIAL_GRADIENTS, ERR_BUSY, ERR_ABORTED, ERR_DISPOSED, ERR_NO_DEVICE, ERR_OUT_OF_MEMORY, and those of reading
 * a model folder. undefined and null mean absent.
 *
 * Symbols: T tokens or rows, S sequences, N tokens of a batch, A read actions, D model width, V vocabulary.
 */
export interface Addon {
  readonly buildInfo: BuildInfo
  /** Opens the device, says what it is ("cpu: avx512, 2 threads") and closes it. Throws what opening it throws. */
  describeDevice(options: DeviceOptions): string
  maskTokens(input: MaskTokensInput): MaskTokensResult
  policyLoss(input: PolicyLossInput): Promise<PolicyLossResult>
  /** A Hugging Face folder as a policy with a thread of its own. */
  loadPolicy(dir: string, options: LoadOptions): Promise<PolicyHandle>
  /** Aborts all work of this JavaScript thread and joins the threads that did it. For the end of the process. */
  stopAll(): void
}

export interface BuildInfo {
  readonly version: string
  readonly compiler: string
  readonly architecture: string
  readonly optimized: boolean
  readonly cuda: boolean
  readonly sanitizer: 'none' | 'address' | 'thread'
}

export interface DeviceOptions {
  /** Default 'cpu'. */
  device?: 'cpu' | 'cuda'
  /** 0: all cores. Default 0. Results do not depend on it. */
  threads?: number
  /** '' takes the best this processor has. Default ''. */
  instructionSet?: '' | 'portable' | 'avx2' | 'avx512'
  /** Of the operands of matrix products on 'cuda'; sums are float32. Default 'bf16'. */
  precision?: 'bf16' | 'fp32'
  /** For 'cuda': the path of cuBLASLt, or 'off' for the built-in products. Default: where the loader finds it. */
  cublaslt?: string
}

export interface MaskTokensInput {
  /** [S+1], from 0 to N, strictly increasing. */
  sequenceOffsets: Int32Array
  /** [N], 1 = sampled by the policy. */
  generated: Uint8Array
  /** [S] */
  outcomeAdvantage: Float32Array
  /** All [A]; token ranges are half open, in 0..N. */
  reads: {
    callStart: Int32Array
    callEnd: Int32Array
    identityStart: Int32Array
    identityEnd: Int32Array
    advantage: Float32Array
  }
  /** lambda, at least 0. */
  selectorCoefficient: number
  /** Whether the execution channel covers the calls that read skills. */
  readCalls: 'excluded' | 'included'
}

/** All [N]; the weights are absolute: they carry their normalisers and lambda. */
export interface MaskTokensResult {
  /** 0 none, 1 execution, 2 selection. */
  channel: Uint8Array
  advantage: Float32Array
  weight: Float32Array
  klWeight: Float32Array
  /** B, the number of generated tokens. */
  generatedCount: number
}

export interface LossFields {
  /** [T] */
  advantage: Float32Array
  /** [T], absolute. A token whose weight and klWeight are 0 is absent: what its other fields hold changes nothing. */
  weight: Float32Array
  /** [T]; absent: 0. */
  klWeight?: Float32Array
  /** [T]; absent: the current one, ratio 1. */
  behaviourLogprob?: Float32Array
  /** [T]; absent: no KL term. */
  referenceLogprob?: Float32Array
  /** > 0. Default 1. */
  temperature?: number
  /** In [0, 1]. Default 0.2. */
  clipLow?: number
  /** At least 0. Default 0.28. */
  clipHigh?: number
  /** > 1. Default: off. */
  dualClip?: number
  /** Default 'k3'. */
  kl?: 'k1' | 'k2' | 'k3'
  /** At least 0. Default 0. */
  klCoefficient?: number
}

export interface PolicyLossInput extends LossFields, DeviceOptions {
  /** [T*D] */
  hidden: Float32Array
  /** [V*D] */
  lmHead: Float32Array
  shape: readonly [T: number, D: number, V: number]
  /** [T], ids in 0..V-1 where the row has weight. */
  target: Int32Array
}

export interface PolicyLossResult {
  /** sum weight*pg(advantage) + klCoefficient * klLoss */
  loss: number
  /** sum klWeight*kl */
  klLoss: number
  /** [T], 0 where both weights are 0. */
  logprob: Float32Array
  entropy: Float32Array
  /** [T], 1 where the clipped branch was taken. */
  clipped: Uint8Array
  /** [T*D] */
  dHidden: Float32Array
  /** [V*D] */
  dLmHead: Float32Array
}

export interface LoadOptions extends DeviceOptions {
  /** false: no gradients and no optimizer state. Default true. */
  trainable?: boolean
  /** Recompute each layer's activations in the backward pass instead of keeping them. Default false: only where they do not fit. */
  recompute?: boolean
  /** What forward products read; bf16 halves the memory traffic. A trainable policy reads bf16 in generation only. Default f32. */
  weights?: 'f32' | 'bf16'
  /** Bytes the policy may hold; 0, the default: what the device has free. */
  memoryLimit?: number
  /** Compute the common prefix of neighbouring sequences once. Default true. */
  sharePrefixes?: boolean
  /** Prompt tokens computed in one pass of generation, at least 1. Default 512. */
  prefillChunk?: number
}

/** A job that was started; `abort(id)` of the policy stops it. */
export interface Started<T> {
  id: number
  promise: Promise<T>
}

export interface PackedTokens {
  /** [T], ids in 0..V-1, all sequences end to end. */
  tokens: Int32Array
  /** [S+1], from 0 to T, strictly increasing. */
  sequenceOffsets: Int32Array
}

export interface PolicyHandle {
  info(): {
    device: 'cpu' | 'cuda'
    description: string
    vocabularySize: number
    maxContext: number
    trainable: boolean
    parameters: { name: string; shape: number[] }[]
  }
  /** Optimizer steps taken. */
  version(): number
  disposed(): boolean
  /** [T] each; 0 for the first token of a sequence. */
  logprobs(
    input: PackedTokens & { temperature?: number; wanted?: Uint8Array },
  ): Started<{ logprob: Float32Array; entropy: Float32Array }>
  accumulate(input: PackedTokens & LossFields): Started<{
    loss: number
    klLoss: number
    logprob: Float32Array
    entropy: Float32Array
    clipped: Uint8Array
  }>
  step(input: {
    learningRate: number
    betas?: readonly [number, number]
    eps?: number
    weightDecay?: number
    maxGradNorm?: number
  }): Started<{ gradNorm: number; skipped: boolean }>
  zeroGradients(): Started<undefined>
  /** A handle for `generate`. */
  openSession(): number
  forkSession(session: number): number
  /** Aborts the session's request in flight, if there is one. Unknown handles are passed over. */
  closeSession(session: number): void
  generate(input: {
    session?: number
    tokens: Int32Array
    maxTokens: number
    temperature?: number
    topP?: number
    topK?: number
    minP?: number
    seed?: number | bigint
    stopTokens?: readonly number[] | Int32Array
  }): Started<{ tokens: Int32Array; logprobs: Float32Array; finishReason: 'stop' | 'length' | 'aborted' }>
  parameter(name: string): Started<Float32Array>
  gradient(name: string): Started<Float32Array>
  setParameter(input: { name: string; values: Float32Array }): Started<undefined>
  save(dir: string): Started<undefined>
  saveOptimizer(file: string): Started<undefined>
  loadOptimizer(file: string): Started<undefined>
  /** Stops a job: an aborted generate resolves with what it has, all else is ERR_ABORTED. Other ids are passed over. */
  abort(id: number): void
  /** Aborts all of its jobs (they fail with ERR_DISPOSED) and frees its memory as soon as the running one has stopped. */
  dispose(): void
}
