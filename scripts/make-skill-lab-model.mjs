/**
 * Makes the files of the skill-lab model in lib/environments/skill-lab/model: a byte-level tokenizer learned from the
 * library's skills, tasks and tool calls, its chat template, and the model's config. The weights are random and are made
 * when a run starts. Run `npm run build:ts` first; the same sources give the same files.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { callText } from '../dist/lib/environments/skill-lab/call-text.js'
import { demonstrate } from '../dist/lib/environments/skill-lab/demonstrations.js'
import { loadLabLibrary } from '../dist/lib/environments/skill-lab/library.js'
import { makeTasks } from '../dist/lib/environments/skill-lab/tasks.js'
import { learnMerges } from './skill-lab/byte-pair-encoding.mjs'

const VOCABULARY = 2048
const CONTEXT = 4096
const ADDED = [
  { content: '<|endoftext|>', special: true },
  { content: '<|im_start|>', special: true },
  { content: '<|im_end|>', special: true },
  { content: '<tool_call>', special: false },
  { content: '</tool_call>', special: false },
]

// No token goes over the edge of a piece: the fixed parts of a JSON tool call, XML tags with the space around them, a word
// with what joins it to the one before (space, hyphen, slash, dot, dashes of an option), one digit, marks, white space.
const PIECES = [
  String.raw`\{"name": "|", "arguments": \{"|": "|"\}\}`,
  String.raw`(?:\s*</?[a-z_]+>)+\s*`,
  '(?: ?--|[ ./-])?[A-Za-z]+',
  ' ?[0-9]',
  String.raw` ?(?:[^\sA-Za-z0-9<]+|<)\n*`,
  String.raw`\s+`,
].join('|')

const folder = new URL('../lib/environments/skill-lab/model/', import.meta.url)

/** Texts with how much they count: what a model reads, and above all what it has to write. */
async function corpus() {
  const library = await loadLabLibrary()
  const texts = []
  const skills = library.skills.skills
  for (const { name, description, location, content } of skills) {
    texts.push([content, 8], [` ${description}`, 4], [callText('read', { path: location }), 40])
    texts.push([`/${name}`, 20], [name, 20])
    for (const command of library.procedures.get(name)) texts.push([callText('run', { command }), 40])
  }
  const splits = ['train', 'held-out', 'held-out-skill']
  for (const split of splits) for (const task of makeTasks(split, 1024, 1)) texts.push([task.prompt, 2])
  const tasks = makeTasks('train', 256, 1)
  for (const { messages } of demonstrate(library, tasks, { count: 256, seed: 1, perTask: 1 })) {
    for (const { role, content } of messages) texts.push([`${role}\n`, 1], [content, 1])
  }
  // Added tokens are cut out before the pattern is applied.
  const added = ADDED.map(({ content }) => content.replaceAll('|', '\\|')).join('|')
  return texts.flatMap(([text, weight]) => text.split(new RegExp(added)).map((part) => [part, weight]))
}

function tokenizerJson({ tokens, merges }) {
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]))
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: ADDED.map((token, i) => ({
      id: tokens.length + i,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      ...token,
    })),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: PIECES }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab,
      merges,
    },
  }
}

function tokenizerConfig(chatTemplate) {
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length: CONTEXT,
    clean_up_tokenization_spaces: false,
    add_bos_token: false,
    bos_token: null,
    eos_token: '<|im_end|>',
    pad_token: '<|endoftext|>',
    unk_token: null,
    chat_template: chatTemplate,
  }
}

function modelConfig(ids) {
  return {
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    vocab_size: VOCABULARY,
    hidden_size: 160,
    intermediate_size: 480,
    num_hidden_layers: 4,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 40,
    hidden_act: 'silu',
    max_position_embeddings: CONTEXT,
    rms_norm_eps: 1e-6,
    rope_theta: 10000,
    rope_scaling: null,
    attention_bias: false,
    attention_dropout: 0,
    use_sliding_window: false,
    tie_word_embeddings: true,
    initializer_range: 0.02,
    torch_dtype: 'float32',
    bos_token_id: null,
    eos_token_id: ids['<|im_end|>'],
    pad_token_id: ids['<|endoftext|>'],
  }
}

const learned = learnMerges(await corpus(), new RegExp(PIECES, 'gu'), VOCABULARY - ADDED.length)
const ids = Object.fromEntries(ADDED.map(({ content }, i) => [content, learned.tokens.length + i]))
const chatTemplate = await readFile(new URL('./skill-lab/chat-template.jinja', import.meta.url), 'utf8')
const files = {
  'tokenizer.json': tokenizerJson(learned),
  'tokenizer_config.json': tokenizerConfig(chatTemplate.trimEnd()),
  'config.json': modelConfig(ids),
  'generation_config.json': {
    do_sample: true,
    temperature: 1,
    eos_token_id: [ids['<|im_end|>'], ids['<|endoftext|>']],
    pad_token_id: ids['<|endoftext|>'],
  },
}
await mkdir(folder, { recursive: true })
for (const [name, content] of Object.entries(files)) {
  await writeFile(new URL(name, folder), `${JSON.stringify(content, null, 2)}\n`)
}
console.log(
  `${learned.tokens.length + ADDED.length} tokens, ${learned.merges.length} merges: ${folder.pathname}`,
)
