import type { LoadOptions, PolicyHandle, Started } from '../addon/addon-types.js'
import { deviceFields, lossFields } from '../addon/kernels.js'
import { loadAddon } from '../addon/load-addon.js'
import { asSkillgateError, checkFields, nativeCall } from '../addon/native-call.js'
import { SkillgateError } from '../errors.js'
import { onAbort } from './on-abort.js'
import type {
  AccumulateRequest,
  AccumulateResult,
  GenerateRequest,
  GenerateResult,
  GenerationSession,
  LogprobsRequest,
  Policy,
  StepOptions,
  StepResult,
} from './policy.js'

export type NativePolicyOptions = LoadOptions

const loadFields = [
  ...deviceFields,
  'trainable',
  'recompute',
  'weights',
  'memoryLimit',
  'sharePrefixes',
  'prefillChunk',
]
/** Of one batch: logprobs takes the batch that accumulate takes, and looks at its tokens, temperature and `wanted`. */
const batchFields = ['tokens', 'sequenceOffsets', 'signal', ...lossFields]
const stepFields = ['learningRate', 'betas', 'eps', 'weightDecay', 'maxGradNorm']
const generateFields = [
  'session',
  'tokens',
  'maxTokens',
  'temperature',
  'topP',
  'topK',
  'minP',
  'seed',
  'stopTokens',
  'signal',
]

/**
 * A model in the addon, on a thread of its own. Calls are done in the order they were made; requests for generation run
 * together, and what changes weights (step, setParameter, loadOptimizer) waits for those in flight.
 * Errors are SkillgateErrors with the codes that lib/addon/addon-types.ts lists.
 */
export class NativePolicy implements Policy {
  readonly device: string
  /** "avx512, 2 threads" */
  readonly deviceDescription: string
  readonly vocabularySize: number
  readonly maxContext: number
  readonly trainable: boolean
  readonly parameters: readonly { name: string; shape: readonly number[] }[]
  readonly #handle: PolicyHandle

  /** A Hugging Face folder: config.json and safetensors. */
  static async load(dir: string, options: NativePolicyOptions = {}): Promise<NativePolicy> {
    checkFields('NativePolicy.load', options, loadFields)
    try {
      return new NativePolicy(await loadAddon().loadPolicy(dir, options))
    } catch (error) {
      throw asSkillgateError(error)
    }
  }

  private constructor(handle: PolicyHandle) {
    const info = handle.info()
    this.#handle = handle
    this.device = info.device
    this.deviceDescription = info.description
    this.vocabularySize = info.vocabularySize
    this.maxContext = info.maxContext
    this.trainable = info.trainable
    this.parameters = info.parameters
  }

  get version(): number {
    return this.#handle.version()
  }

  get disposed(): boolean {
    return this.#handle.disposed()
  }

  async logprobs(request: LogprobsRequest & { signal?: AbortSignal }) {
    checkFields('logprobs', request, [...batchFields, 'wanted'])
    return this.#run((handle) => handle.logprobs(request), request?.signal)
  }

  /** Aborted half way, step() is refused (ERR_PARTIAL_GRADIENTS) until zeroGradients(). */
  async accumulate(request: AccumulateRequest & { signal?: AbortSignal }): Promise<AccumulateResult> {
    checkFields('accumulate', request, batchFields)
    return this.#run((handle) => handle.accumulate(request), request?.signal)
  }

  async step(options: StepOptions): Promise<StepResult> {
    checkFields('step', options, stepFields)
    return this.#run((handle) => handle.step(options))
  }

  async zeroGradients(): Promise<void> {
    await this.#run((handle) => handle.zeroGradients())
  }

  openSession(): GenerationSession {
    return new NativeSession(
      this.#handle,
      nativeCall(() => this.#handle.openSession()),
    )
  }

  /** An aborted request is no error: it resolves with the tokens it has and finishReason 'aborted'. */
  async generate(request: GenerateRequest): Promise<GenerateResult> {
    checkFields('generate', request, generateFields)
    const { session, signal, ...rest } = request ?? {}
    if (session !== undefined && !NativeSession.belongs(session, this.#handle)) {
      throw new SkillgateError('ERR_UNKNOWN_SESSION', 'generate: expected a session that this policy opened')
    }
    return this.#run((handle) => handle.generate({ ...rest, session: session?.id }), signal)
  }

  async parameter(name: string): Promise<Float32Array> {
    return this.#run((handle) => handle.parameter(name))
  }

  async gradient(name: string): Promise<Float32Array> {
    return this.#run((handle) => handle.gradient(name))
  }

  /** Overwrites a tensor; its optimizer state stays. */
  async setParameter(name: string, values: Float32Array): Promise<void> {
    await this.#run((handle) => handle.setParameter({ name, values }))
  }

  async save(dir: string): Promise<void> {
    await this.#run((handle) => handle.save(dir))
  }

  async saveOptimizer(file: string): Promise<void> {
    await this.#run((handle) => handle.saveOptimizer(file))
  }

  async loadOptimizer(file: string): Promise<void> {
    await this.#run((handle) => handle.loadOptimizer(file))
  }

  /** Aborts what is in flight (ERR_DISPOSED) and frees the memory; later calls are ERR_DISPOSED. More than once is fine. */
  dispose(): void {
    this.#handle.dispose()
  }

  [Symbol.dispose](): void {
    this.dispose()
  }

  async #run<T>(start: (handle: PolicyHandle) => Started<T>, signal?: AbortSignal): Promise<T> {
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw new SkillgateError(
        'ERR_INVALID_ARGUMENT',
        `expected signal to be an AbortSignal, got ${typeof signal}`,
      )
    }
    try {
      const { id, promise } = start(this.#handle)
      if (!signal) return await promise
      const callOff = onAbort(signal, () => this.#handle.abort(id))
      return await promise.finally(callOff)
    } catch (error) {
      throw asSkillgateError(error)
    }
  }
}

class NativeSession implements GenerationSession {
  readonly id: number
  readonly #handle: PolicyHandle

  constructor(handle: PolicyHandle, id: number) {
    this.#handle = handle
    this.id = id
  }

  static belongs(session: unknown, handle: PolicyHandle): boolean {
    return typeof session === 'object' && session !== null && #handle in session && session.#handle === handle
  }

  fork(): GenerationSession {
    return new NativeSession(
      this.#handle,
      nativeCall(() => this.#handle.forkSession(this.id)),
    )
  }

  /** Aborts the session's request in flight, if there is one. More than once is fine. */
  close(): void {
    nativeCall(() => this.#handle.closeSession(this.id))
  }
}
