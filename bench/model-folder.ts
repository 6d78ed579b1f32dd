import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { SeededRandom } from '../lib/environments/skill-lab/seeded-random.js'

/** A llama-shaped network with tied embeddings. */
export interface ModelShape {
  layers: number
  width: number
  heads: number
  keyValueHeads: number
  feedForward: number
  vocabulary: number
}

/** The shape of SmolLM2-135M. */
export const smolShape: ModelShape = {
  layers: 30,
  width: 576,
  heads: 9,
  keyValueHeads: 3,
  feedForward: 1536,
  vocabulary: 49_152,
}

/** The shape of the built-in environment's model. */
export const labShape: ModelShape = {
  layers: 4,
  width: 160,
  heads: 4,
  keyValueHeads: 2,
  feedForward: 480,
  vocabulary: 2048,
}

function tensors(shape: ModelShape): { name: string; shape: number[] }[] {
  const { width: D, feedForward: F, vocabulary: V } = shape
  const narrow = (D / shape.heads) * shape.keyValueHeads
  const layer = (l: number) =>
    Object.entries({
      input_layernorm: [D],
      'self_attn.q_proj': [D, D],
      'self_attn.k_proj': [narrow, D],
      'self_attn.v_proj': [narrow, D],
      'self_attn.o_proj': [D, D],
      post_attention_layernorm: [D],
      'mlp.gate_proj': [F, D],
      'mlp.up_proj': [F, D],
      'mlp.down_proj': [D, F],
    }).map(([name, size]) => ({ name: `model.layers.${l}.${name}.weight`, shape: size }))
  return [
    { name: 'model.embed_tokens.weight', shape: [V, D] },
    ...Array.from({ length: shape.layers }, (_, l) => layer(l)).flat(),
    { name: 'model.norm.weight', shape: [D] },
  ]
}

const count = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1)

export function parameterCount(shape: ModelShape): number {
  return tensors(shape).reduce((sum, tensor) => sum + count(tensor.shape), 0)
}

/** Writes config.json and model.safetensors: norms 1, all else uniform with standard deviation 0.02 (0.05 the embeddings). */
export function writeModelFolder(dir: string, shape: ModelShape): void {
  mkdirSync(dir, { recursive: true })
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_size: shape.width,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.keyValueHeads,
    head_dim: shape.width / shape.heads,
    intermediate_size: shape.feedForward,
    vocab_size: shape.vocabulary,
    max_position_embeddings: 8192,
    rms_norm_eps: 1e-5,
    rope_theta: 100_000,
    hidden_act: 'silu',
    attention_bias: false,
    mlp_bias: false,
    tie_word_embeddings: true,
    bos_token_id: 1,
    eos_token_id: 2,
    torch_dtype: 'float32',
  }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config, null, 2))
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } }
  let at = 0
  for (const { name, shape: size } of tensors(shape)) {
    const end = at + 4 * count(size)
    header[name] = { dtype: 'F32', shape: size, data_offsets: [at, end] }
    at = end
  }
  const text = JSON.stringify(header)
  const padded = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(padded.length))
  const file = openSync(join(dir, 'model.safetensors'), 'w')
  try {
    writeSync(file, Buffer.concat([length, padded]))
    const random = new SeededRandom(1)
    for (const { name, shape: size } of tensors(shape)) {
      const scale = Math.sqrt(3) * (name.includes('embed') ? 0.05 : 0.02)
      const values = new Float32Array(count(size)).fill(1)
      if (size.length > 1)
        for (let i = 0; i < values.length; i++) values[i] = scale * (2 * random.uniform() - 1)
      writeAll(file, Buffer.from(values.buffer))
    }
  } finally {
    closeSync(file)
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}

export function randomTokens(length: number, vocabulary: number, seed: number): Int32Array {
  const random = new SeededRandom(seed)
  return Int32Array.from({ length }, () => random.below(vocabulary))
}
