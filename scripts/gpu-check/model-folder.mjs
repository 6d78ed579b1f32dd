import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Names and shapes of the tensors of a Qwen3 model. */
export function tensorsOf(config) {
  const { vocab_size: V, hidden_size: D, intermediate_size: F, head_dim: E } = config
  const queries = config.num_attention_heads * E
  const keys = config.num_key_value_heads * E
  const tensors = [
    ['model.embed_tokens.weight', [V, D]],
    ['model.norm.weight', [D]],
  ]
  if (!config.tie_word_embeddings) tensors.push(['lm_head.weight', [V, D]])
  for (let i = 0; i < config.num_hidden_layers; i++) {
    const layer = {
      input_layernorm: [D],
      'self_attn.q_proj': [queries, D],
      'self_attn.k_proj': [keys, D],
      'self_attn.v_proj': [keys, D],
      'self_attn.o_proj': [D, queries],
      'self_attn.q_norm': [E],
      'self_attn.k_norm': [E],
      post_attention_layernorm: [D],
      'mlp.gate_proj': [F, D],
      'mlp.up_proj': [F, D],
      'mlp.down_proj': [D, F],
    }
    for (const [name, shape] of Object.entries(layer))
      tensors.push([`model.layers.${i}.${name}.weight`, shape])
  }
  return tensors
}

/** A Hugging Face folder whose bf16 weights are all 0, in a file with a hole: the benchmark writes its own. */
export function writeModelFolder(folder, config) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  let end = 0
  const header = {}
  for (const [name, shape] of tensorsOf(config)) {
    const bytes = 2 * shape.reduce((a, b) => a * b, 1)
    header[name] = { dtype: 'BF16', shape, data_offsets: [end, end + bytes] }
    end += bytes
  }
  const text = JSON.stringify(header)
  const padded = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(padded.length))
  const file = openSync(join(folder, 'model.safetensors'), 'w')
  writeSync(file, Buffer.concat([length, padded]))
  ftruncateSync(file, 8 + padded.length + end)
  closeSync(file)
}
