import { Tokenizer } from '../../lib/policy/tokenizer.js'

/** An added token, special where it is written `<...>` or `[...]` and no tag of a tool call or thought. */
function addedToken(content: string, id: number, extra: object = {}) {
  const special = !/^<\/?(?:tool_call|tool_response|think)>$/.test(content)
  return {
    id,
    content,
    special,
    normalized: false,
    lstrip: false,
    rstrip: false,
    single_word: false,
    ...extra,
  }
}

const chatTokens = [
  ...['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<tool_call>', '</tool_call>', '<tool_response>'],
  ...['</tool_response>', '<think>', '</think>', '<|begin_of_text|>', '<|start_header_id|>'],
  ...['<|end_header_id|>', '<|eot_id|>', '[gMASK]', '<sop>', '<|system|>', '<|user|>', '<|assistant|>'],
  ...['<|observation|>', '<|end|>'],
]

/** GPT-2's character for each byte. */
export function byteCharacters(): string[] {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => {
    const printable =
      (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
    return String.fromCharCode(printable ? byte : next++)
  })
}

export interface TinyOptions {
  bos?: string
  eos?: string
  /** Ids of generation_config.json, given by content. */
  ends?: string[]
  /** Puts the BOS before every text when special tokens are asked for. */
  addBos?: boolean
}

// As in Qwen and Llama 3: line breaks stay together whatever follows.
const words =
  '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+'

/** tokenizer.json of byte-level BPE: every byte, a few merges, and the special tokens of several model families. */
export function byteLevelFiles(options: TinyOptions = {}) {
  const pairs = [
    'h e',
    'l l',
    'he ll',
    'hell o',
    'Ġ w',
    'o r',
    'Ġw or',
    'Ċ Ċ',
    'r e',
    'a d',
    'Ã ¤',
    't h',
    'th e',
  ]
  const tokens = [...byteCharacters(), ...pairs.map((pair) => pair.replace(' ', ''))]
  const { bos, eos = '<|im_end|>', addBos } = options
  const single = [{ Sequence: { id: 'A', type_id: 0 } }]
  const tokenizer = {
    version: '1.0',
    added_tokens: chatTokens.map((content, i) => addedToken(content, tokens.length + i)),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: words }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: addBos
      ? {
          type: 'TemplateProcessing',
          single: [{ SpecialToken: { id: bos, type_id: 0 } }, ...single],
          pair: single,
        }
      : { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: pairs,
      unk_token: null,
    },
  }
  return { tokenizer, config: { bos_token: bos ?? null, eos_token: eos, model_max_length: 4096 } }
}

export function byteLevelTokenizer(options: TinyOptions = {}): Tokenizer {
  const files = byteLevelFiles(options)
  const idOf = (content: string) =>
    files.tokenizer.added_tokens.find((token) => token.content === content)!.id
  return new Tokenizer({ ...files, endOfTurnIds: (options.ends ?? []).map(idOf) })
}

/** tokenizer.json as llama 2 and phi 3 have it: `▁` for spaces, `<0xE4>` for bytes, a space before every text. */
export function sentencePieceFiles() {
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  )
  const letters = [...'▁abcdefghijklmnopqrstuvwxyzHW.,:?'].map((letter) => letter)
  const pairs = ['l l', 'h e', 'he ll', 'hell o', '▁ w', 'o r', '▁w or', 'l d', '▁wor ld', '▁ hello']
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, ...letters, ...pairs.map((pair) => pair.replace(' ', ''))]
  const added = [
    '<unk>',
    '<s>',
    '</s>',
    '<|endoftext|>',
    '<|assistant|>',
    '<|end|>',
    '<|user|>',
    '<|system|>',
  ]
  return {
    tokenizer: {
      version: '1.0',
      added_tokens: added.map((content, i) =>
        i < 3
          ? addedToken(content, i)
          : addedToken(content, tokens.length + i - 3, { rstrip: content !== '<|endoftext|>' }),
      ),
      normalizer: {
        type: 'Sequence',
        normalizers: [
          { type: 'Prepend', prepend: '▁' },
          { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
        ],
      },
      pre_tokenizer: null,
      post_processor: null,
      decoder: {
        type: 'Sequence',
        decoders: [
          { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
          { type: 'ByteFallback' },
          { type: 'Fuse' },
          { type: 'Strip', content: ' ', start: 1, stop: 0 },
        ],
      },
      model: {
        type: 'BPE',
        unk_token: '<unk>',
        fuse_unk: true,
        byte_fallback: true,
        vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
        merges: pairs,
      },
    },
    config: { bos_token: '<s>', eos_token: '<|endoftext|>' },
  }
}
