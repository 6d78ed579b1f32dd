import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelFolder } from '../../lib/environments/skill-lab/assets.js'
import type {
  AccumulateRequest,
  AccumulateResult,
  GenerateRequest,
  GenerateResult,
  PackedSequences,
  Policy,
  StepOptions,
  StepResult,
} from '../../lib/policy/policy.js'
import type { OpenPolicy } from '../../lib/rollout/setting.js'

export const newFolder = () => mkdtempSync(join(tmpdir(), 'skillgate-recipe-'))
export const VOCABULARY: number = JSON.parse(
  readFileSync(join(modelFolder, 'config.json'), 'utf8'),
).vocab_size

/** A folder with the tokenizer of the built-in model, and weights of a unigram model that are all 0. */
export function unigramModel(): string {
  const dir = join(newFolder(), 'model')
  cpSync(modelFolder, dir, { recursive: true })
  writeFileSync(join(dir, 'weights.json'), JSON.stringify(Array.from({ length: VOCABULARY }, () => 0)))
  return dir
}

/** One logit a token, whatever came before: the smallest model that learns. Momentum is its optimizer's state. */
export class UnigramPolicy {
  readonly device = 'cpu'
  readonly vocabularySize = VOCABULARY
  readonly maxContext = 4096
  readonly parameters = [{ name: 'logits', shape: [VOCABULARY] }]
  version = 0
  disposed = false
  /** Replaces the norm of the gradient at these versions, as a broken number would. */
  brokenAt = new Set<number>()
  readonly #dir: string
  #logits: Float64Array
  #gradient = new Float64Array(VOCABULARY)
  #momentum = new Float64Array(VOCABULARY)

  constructor(dir: string) {
    this.#dir = dir
    this.#logits = Float64Array.from(JSON.parse(readFileSync(join(dir, 'weights.json'), 'utf8')))
  }

  get policy(): Policy {
    return this as unknown as Policy
  }

  #distribution(temperature = 1): Float64Array {
    const scaled = this.#logits.map((logit) => Math.exp(logit / temperature))
    const sum = scaled.reduce((a, b) => a + b, 0)
    return scaled.map((value) => value / sum)
  }

  async logprobs(request: PackedSequences & { temperature?: number }) {
    const p = this.#distribution(request.temperature)
    const logprob = Float32Array.from(request.tokens, (token) => Math.log(p[token]!))
    for (const start of request.sequenceOffsets.subarray(0, -1)) logprob[start] = 0
    return { logprob, entropy: new Float32Array(logprob.length) }
  }

  async accumulate(request: AccumulateRequest & { signal?: AbortSignal }): Promise<AccumulateResult> {
    const { tokens, advantage, weight } = request
    const p = this.#distribution(request.temperature)
    const { logprob, entropy } = await this.logprobs(request)
    let loss = 0
    for (let t = 0; t < tokens.length; t++) {
      const scale = weight[t] === 0 ? 0 : weight[t]! * advantage[t]!
      if (scale === 0) continue
      loss -= scale
      this.#gradient[tokens[t]!]! -= scale
      for (let v = 0; v < VOCABULARY; v++) this.#gradient[v]! += scale * p[v]!
    }
    return { loss, klLoss: 0, logprob, entropy, clipped: new Uint8Array(tokens.length) }
  }

  async step({ learningRate }: StepOptions): Promise<StepResult> {
    const gradient = this.#gradient
    this.#gradient = new Float64Array(VOCABULARY)
    if (this.brokenAt.delete(this.version)) return { gradNorm: Number.NaN, skipped: true }
    for (let v = 0; v < VOCABULARY; v++) {
      this.#momentum[v] = 0.9 * this.#momentum[v]! + gradient[v]!
      this.#logits[v]! -= 30 * learningRate * this.#momentum[v]!
    }
    this.version += 1
    return { gradNorm: Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0)), skipped: false }
  }

  async zeroGradients(): Promise<void> {
    this.#gradient = new Float64Array(VOCABULARY)
  }

  openSession() {
    return { id: 0, fork: () => this.openSession(), close: () => {} }
  }

  async generate(request: GenerateRequest): Promise<GenerateResult> {
    await new Promise((resolve) => setImmediate(resolve))
    if (request.signal?.aborted)
      return { tokens: new Int32Array(0), logprobs: new Float32Array(0), finishReason: 'aborted' }
    const p = this.#distribution(request.temperature)
    const random = new Lehmer(Number(request.seed ?? 0))
    const tokens: number[] = []
    const stops = new Set(request.stopTokens)
    while (tokens.length < request.maxTokens) {
      let left = random.next()
      let token = 0
      while (token < VOCABULARY - 1 && left >= p[token]!) left -= p[token++]!
      tokens.push(token)
      if (stops.has(token)) break
    }
    const logprobs = Float32Array.from(tokens, (token) => Math.log(p[token]!))
    return {
      tokens: Int32Array.from(tokens),
      logprobs,
      finishReason: stops.has(tokens.at(-1)!) ? 'stop' : 'length',
    }
  }

  async parameter(): Promise<Float32Array> {
    return Float32Array.from(this.#logits)
  }

  async save(dir: string): Promise<void> {
    mkdirSync(dir, { recursive: true })
    cpSync(this.#dir, dir, { recursive: true })
    writeFileSync(join(dir, 'weights.json'), JSON.stringify(Array.from(this.#logits)))
  }

  async saveOptimizer(file: string): Promise<void> {
    writeFileSync(file, JSON.stringify({ version: this.version, momentum: Array.from(this.#momentum) }))
  }

  async loadOptimizer(file: string): Promise<void> {
    const { version, momentum } = JSON.parse(readFileSync(file, 'utf8'))
    this.version = version
    this.#momentum = Float64Array.from(momentum)
  }

  setLogit(token: number, value: number): void {
    this.#logits[token] = value
  }

  dispose(): void {
    this.disposed = true
  }
}

/** A stream of numbers in [0, 1). */
class Lehmer {
  #state: number
  constructor(seed: number) {
    this.#state = (seed % 2147483646) + 1
    for (let i = 0; i < 5; i++) this.next()
  }
  next(): number {
    this.#state = Number((BigInt(this.#state) * 48271n) % 2147483647n)
    return (this.#state - 1) / 2147483646
  }
}

/** Opens unigram policies and keeps them for a look afterwards. */
export function unigramOpener(prepare: (policy: UnigramPolicy) => void = () => {}) {
  const opened: UnigramPolicy[] = []
  const openPolicy: OpenPolicy = async (dir) => {
    const policy = new UnigramPolicy(dir)
    prepare(policy)
    opened.push(policy)
    return policy.policy
  }
  return { opened, openPolicy }
}
