import type { FloatTensor } from './safetensors.js'
import { SeededRandom } from './seeded-random.js'

/** What is read of a config.json of a Qwen3ForCausalLM with tied embeddings. */
export interface Qwen3Config {
  vocab_size: number
  hidden_size: number
  intermediate_size: number
  num_hidden_layers: number
  num_attention_heads: number
  num_key_value_heads: number
  head_dim: number
}

const EMBEDDING_DEVIATION = 0.1
/** Of the norms of queries and keys: attention that is sharper from the start than at 1. */
const QUERY_KEY_NORM = 1.8
/** How much of its own values' transpose an output projection begins with. */
const COPY = 0.5

/**
 * Random weights that are quick to learn from: matrices normal with deviation 1 / sqrt(inputs), those that write to the residual stream
 * smaller by sqrt(2 layers), and an attention that begins as a weak copier. Keys begin as the queries of the first head of their group,
 * so that tokens attend to their like, and the output projection holds a part of the transposed value projection, so that what is
 * attended to is made likelier. From plain random weights a model of this size needs many times the tokens to learn to copy.
 */
export function initialWeights(config: Qwen3Config, seed: number): FloatTensor[] {
  const { hidden_size: D, intermediate_size: F, num_hidden_layers: layers, head_dim } = config
  const queries = config.num_attention_heads * head_dim
  const keys = config.num_key_value_heads * head_dim
  const random = new SeededRandom(seed)
  const residual = 1 / Math.sqrt(2 * layers)
  const tensors: FloatTensor[] = []
  const add = (name: string, shape: number[], values: Float32Array) => {
    tensors.push({ name: `model.${name}.weight`, shape, values })
    return values
  }
  const norm = (name: string, size: number, value = 1) =>
    add(name, [size], new Float32Array(size).fill(value))
  const matrix = (name: string, rows: number, columns: number, deviation = 1 / Math.sqrt(columns)) =>
    add(name, [rows, columns], normal(rows * columns, deviation, random))

  matrix('embed_tokens', config.vocab_size, D, EMBEDDING_DEVIATION)
  for (let i = 0; i < layers; i++) {
    const layer = `layers.${i}`
    norm(`${layer}.input_layernorm`, D)
    const q = matrix(`${layer}.self_attn.q_proj`, queries, D)
    add(`${layer}.self_attn.k_proj`, [keys, D], firstHeads(q, config))
    const v = matrix(`${layer}.self_attn.v_proj`, keys, D)
    addTransposed(matrix(`${layer}.self_attn.o_proj`, D, queries, residual / Math.sqrt(queries)), v, config)
    norm(`${layer}.self_attn.q_norm`, head_dim, QUERY_KEY_NORM)
    norm(`${layer}.self_attn.k_norm`, head_dim, QUERY_KEY_NORM)
    norm(`${layer}.post_attention_layernorm`, D)
    matrix(`${layer}.mlp.gate_proj`, F, D)
    matrix(`${layer}.mlp.up_proj`, F, D)
    matrix(`${layer}.mlp.down_proj`, D, F, residual / Math.sqrt(F))
  }
  norm('norm', D)
  return tensors
}

function normal(count: number, deviation: number, random: SeededRandom): Float32Array {
  return Float32Array.from({ length: count }, () => deviation * random.normal())
}

/** The rows of the first query head of each group of heads that share keys. */
function firstHeads(q: Float32Array, config: Qwen3Config): Float32Array {
  const size = config.head_dim * config.hidden_size
  const perGroup = config.num_attention_heads / config.num_key_value_heads
  const heads = Array.from({ length: config.num_key_value_heads }, (_, group) =>
    q.subarray(group * perGroup * size, (group * perGroup + 1) * size),
  )
  return Float32Array.from(heads.flatMap((head) => [...head]))
}

/** Adds to each head's columns of the output projection [D, heads * E] the transpose of its group's values [groups * E, D]. */
function addTransposed(o: Float32Array, v: Float32Array, config: Qwen3Config): void {
  const { hidden_size: D, head_dim: E, num_attention_heads: heads } = config
  const perGroup = heads / config.num_key_value_heads
  for (let d = 0; d < D; d++) {
    for (let head = 0; head < heads; head++) {
      const group = Math.floor(head / perGroup)
      for (let e = 0; e < E; e++) {
        o[(d * heads + head) * E + e]! += COPY * v[(group * E + e) * D + d]!
      }
    }
  }
}
