import { ChatTemplate } from '../../lib/policy/chat-template.js'
import type { GenerateRequest, GenerateResult, GenerationSession, Policy } from '../../lib/policy/policy.js'
import { Tokenizer } from '../../lib/policy/tokenizer.js'

const printable = (byte: number) =>
  (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
let next = 256
const byteTokens = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(printable(byte) ? byte : next++),
)

/** One token a byte, and three special ones. */
export const tokenizer = new Tokenizer({
  tokenizer: {
    model: { type: 'BPE', vocab: Object.fromEntries(byteTokens.map((token, id) => [token, id])), merges: [] },
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
    decoder: { type: 'ByteLevel' },
    added_tokens: ['<|im_start|>', '<|im_end|>', '<|eos|>'].map((content, i) => ({
      ...{ id: 256 + i, content, special: true },
      ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
    })),
  },
  config: { eos_token: '<|im_end|>' },
})

export const template = new ChatTemplate({
  template:
    '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}' +
    '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
})

/** The logprob a token has at its place of the context. */
export const logprobAt = (token: number, place: number) => Math.fround(-((token + place) % 13) / 7)

/**
 * Says what a script makes of the context's text and the seed, then ends its turn. Keeps its requests; `wait` delays the
 * answers, `open` counts the caches that were not given back.
 */
export class ScriptedPolicy {
  readonly requests: GenerateRequest[] = []
  version = 3
  maxContext = 100_000
  open = 0
  wait: (request: GenerateRequest) => Promise<void> = async () => {}

  constructor(private readonly script: (context: string, seed: number) => string) {}

  get policy(): Policy {
    return this as unknown as Policy
  }

  openSession(): GenerationSession {
    this.open += 1
    const close = () => {
      this.open -= 1
    }
    return { id: this.open, fork: () => this.openSession(), close }
  }

  async generate(request: GenerateRequest): Promise<GenerateResult> {
    this.requests.push(request)
    const { tokens: context, maxTokens, seed, signal } = request
    const answer = this.script(tokenizer.textOf(context), Number(seed))
    const ids = [...tokenizer.encode(answer), tokenizer.idOf('<|im_end|>')!]
    await this.wait(request)
    if (signal?.aborted)
      return { tokens: new Int32Array(0), logprobs: new Float32Array(0), finishReason: 'aborted' }
    const tokens = Int32Array.from(ids.slice(0, maxTokens))
    const logprobs = Float32Array.from(tokens, (token, i) => logprobAt(token, context.length + i))
    return { tokens, logprobs, finishReason: ids.length <= maxTokens ? 'stop' : 'length' }
  }
}

/** A tool call as the model writes it. */
export const callText = (name: string, args: object) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`
