import { join } from 'node:path'
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers'
import { SkillgateError } from '../errors.js'
import { readModelJson } from './model-files.js'
import { RecentTexts } from './recent-texts.js'
import { specialTokens } from './special-tokens.js'
import { type TokenDecoding, tokenBytes, tokenDecoding } from './token-bytes.js'

/** What is used of `@huggingface/tokenizers`. */
interface Encoder {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] }
  id_to_token(id: number): string | undefined
  get_added_tokens_decoder(): Map<number, { content: string; special: boolean }>
  model: { vocab: { length: number } }
}

export interface TokenizerFiles {
  /** The content of tokenizer.json. */
  tokenizer: unknown
  /** The content of tokenizer_config.json. */
  config?: unknown
  /** Ids that end a turn by generation_config.json or config.json. */
  endOfTurnIds?: readonly number[]
  /** Named in errors. */
  file?: string
}

const lossy = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
const nothing = new Uint8Array(0)

/** Text to token ids and back, and the exact bytes of each id, for any model with a tokenizer.json. */
export class Tokenizer {
  /** One more than the highest id that has a token; the model's embedding may be larger. */
  readonly vocabularySize: number
  readonly bosId: number | undefined
  readonly eosId: number | undefined
  /** Ids after which the model is made to stop: the eos token and those of generation_config.json and config.json. */
  readonly endOfTurnIds: readonly number[]
  /** `bos_token`, `eos_token`, ... of tokenizer_config.json, as chat templates take them. */
  readonly specialTokens: Readonly<Record<string, string>>

  readonly #encoder: Encoder
  readonly #decoding: TokenDecoding
  readonly #added: Map<number, { content: string; special: boolean }>
  readonly #idOfAdded: Map<string, number>
  readonly #bytes = new Map<number, Uint8Array>()
  readonly #recent = new RecentTexts()

  /** Reads tokenizer.json (required), tokenizer_config.json, generation_config.json and config.json of a folder. `ERR_TOKENIZER`. */
  static async load(dir: string): Promise<Tokenizer> {
    const file = join(dir, 'tokenizer.json')
    const [tokenizer, config, generation, model] = await Promise.all([
      readModelJson(file, 'ERR_TOKENIZER'),
      readModelJson(join(dir, 'tokenizer_config.json'), 'ERR_TOKENIZER', { optional: true }),
      readModelJson(join(dir, 'generation_config.json'), 'ERR_TOKENIZER', { optional: true }),
      readModelJson(join(dir, 'config.json'), 'ERR_TOKENIZER', { optional: true }),
    ])
    return new Tokenizer({
      tokenizer,
      config,
      endOfTurnIds: [...idList(generation?.eos_token_id), ...idList(model?.eos_token_id)],
      file,
    })
  }

  constructor(files: TokenizerFiles) {
    const file = files.file ?? 'tokenizer.json'
    const config = (files.config ?? {}) as Record<string, unknown>
    try {
      const tokenizer = checked(files.tokenizer)
      this.#decoding = tokenDecoding(tokenizer)
      this.#encoder = new HuggingFaceTokenizer(tokenizer, config) as unknown as Encoder
      this.#encoder.encode('a', { add_special_tokens: true })
    } catch (cause) {
      throw new SkillgateError(
        'ERR_TOKENIZER',
        `${file}: unsupported tokenizer: ${(cause as Error).message}`,
        {
          cause,
        },
      )
    }
    this.#added = this.#encoder.get_added_tokens_decoder()
    this.#idOfAdded = new Map(Array.from(this.#added, ([id, token]) => [token.content, id]))
    this.vocabularySize = this.#encoder.model.vocab.length
    this.specialTokens = specialTokens(config)
    this.bosId = this.idOf(this.specialTokens.bos_token)
    this.eosId = this.idOf(this.specialTokens.eos_token)
    const ends = this.eosId === undefined ? [] : [this.eosId]
    this.endOfTurnIds = [...new Set([...ends, ...(files.endOfTurnIds ?? [])])]
  }

  /** Special tokens inside the text are recognised; a BOS or EOS is added only when asked for. */
  encode(text: string, options: { addSpecialTokens?: boolean } = {}): Int32Array {
    if (options.addSpecialTokens) return this.#encode(text, true)
    return this.#recent.ids(text, (whole) => this.#encode(whole, false))
  }

  #encode(text: string, addSpecialTokens: boolean): Int32Array {
    let ids: (number | undefined)[]
    try {
      ids = this.#encoder.encode(text, { add_special_tokens: addSpecialTokens }).ids
    } catch (cause) {
      const message = `cannot encode a text of ${text.length} characters: ${(cause as Error).message}`
      throw new SkillgateError('ERR_TOKENIZER', message, { cause })
    }
    return Int32Array.from(ids.filter((id) => id !== undefined))
  }

  /**
   * The ids of a text that follows the token `previous`: what encoding both together gives, without the first.
   * It differs from `encode` where an added token swallows the space after it, or a space is put before a text.
   */
  encodeAfter(previous: number | undefined, text: string): Int32Array {
    const context = previous === undefined ? undefined : this.#added.get(previous)?.content
    if (context === undefined) return this.encode(text)
    const ids = this.encode(context + text)
    return ids[0] === previous ? ids.slice(1) : this.encode(text)
  }

  /** The exact bytes of a token; none for an id that has no token. */
  bytesOf(id: number): Uint8Array {
    if (!Number.isInteger(id) || id < 0) {
      throw new SkillgateError('ERR_TOKENIZER', `expected a token id of 0 or more, got ${id}`)
    }
    let bytes = this.#bytes.get(id)
    if (bytes === undefined) {
      const added = this.#added.get(id)
      const token = this.#encoder.id_to_token(id)
      if (added !== undefined) bytes = encoder.encode(added.content)
      else bytes = token === undefined ? nothing : tokenBytes(token, this.#decoding)
      this.#bytes.set(id, bytes)
    }
    return bytes
  }

  /** The bytes of the ids as UTF-8; each byte sequence that is none becomes U+FFFD. */
  textOf(ids: ArrayLike<number>): string {
    return lossy.decode(Buffer.concat(Array.from(ids, (id) => this.bytesOf(id))))
  }

  /** The text as it would be encoded: `textOf` without the space that this tokenizer puts before every text. */
  decode(ids: ArrayLike<number>, options: { skipSpecialTokens?: boolean } = {}): string {
    const kept = Array.from(ids).filter((id) => !(options.skipSpecialTokens && this.#added.get(id)?.special))
    const text = this.textOf(kept)
    const first = kept[0]
    const spaced = this.#decoding.dropsFirstSpace && first !== undefined && !this.#added.has(first)
    return spaced && text.startsWith(' ') ? text.slice(1) : text
  }

  /** The id of an added token, e.g. `<|im_end|>`. */
  idOf(token: string | undefined): number | undefined {
    return token === undefined ? undefined : this.#idOfAdded.get(token)
  }

  /** True for tokens that stand beside the model's vocabulary, such as `<|im_end|>` or `<tool_call>`. */
  isAdded(id: number): boolean {
    return this.#added.has(id)
  }

  /** True for added tokens marked as special, such as `<|im_end|>`. */
  isSpecial(id: number): boolean {
    return this.#added.get(id)?.special === true
  }
}

/** The sections a tokenizer.json may leave out are null; ids of added tokens are checked. */
function checked(tokenizer: unknown): Record<string, unknown> {
  if (typeof tokenizer !== 'object' || tokenizer === null || Array.isArray(tokenizer)) {
    throw new Error(`expected an object, got ${Array.isArray(tokenizer) ? 'a list' : typeof tokenizer}`)
  }
  const sections = {
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    ...tokenizer,
  }
  const added = (tokenizer as { added_tokens?: unknown }).added_tokens ?? []
  if (!Array.isArray(added)) throw new Error(`expected added_tokens to be a list, got ${typeof added}`)
  for (const token of added) {
    const { id, content } = (token ?? {}) as { id?: unknown; content?: unknown }
    const valid = Number.isInteger(id) && (id as number) >= 0 && (id as number) < 2 ** 31
    if (!valid || typeof content !== 'string' || content === '') {
      const got = JSON.stringify(token)?.slice(0, 100)
      throw new Error(`expected each of added_tokens to have an id and a content, got ${got}`)
    }
  }
  return { ...sections, added_tokens: added }
}

function idList(value: unknown): number[] {
  return (Array.isArray(value) ? value : [value]).filter((id) => Number.isInteger(id) && id >= 0)
}
