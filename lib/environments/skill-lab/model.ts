import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { modelFolder } from './assets.js'
import { encodeSafetensors, type FloatTensor } from './safetensors.js'
import { SeededRandom } from './seeded-random.js'

const FILES = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'] as const

/** What is read of the model's config.json (Qwen3ForCausalLM, tied embeddings). */
interface Qwen3Config {
  vocab_size: number
  hidden_size: number
  intermediate_size: number
  num_hidden_layers: number
  num_attention_heads: number
  num_key_value_heads: number
  head_dim: number
  initializer_range: number
}

/** Names and shapes of the weights, as Hugging Face has them; one-dimensional ones are norms. */
function weightShapes(config: Qwen3Config): [name: string, shape: number[]][] {
  const { hidden_size: D, intermediate_size: F, head_dim } = config
  const queries = config.num_attention_heads * head_dim
  const keys = config.num_key_value_heads * head_dim
  const shapes: [string, number[]][] = [['model.embed_tokens.weight', [config.vocab_size, D]]]
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const inLayer: [string, number[]][] = [
      ['input_layernorm', [D]],
      ['self_attn.q_proj', [queries, D]],
      ['self_attn.k_proj', [keys, D]],
      ['self_attn.v_proj', [keys, D]],
      ['self_attn.o_proj', [D, queries]],
      ['self_attn.q_norm', [head_dim]],
      ['self_attn.k_norm', [head_dim]],
      ['post_attention_layernorm', [D]],
      ['mlp.gate_proj', [F, D]],
      ['mlp.up_proj', [F, D]],
      ['mlp.down_proj', [D, F]],
    ]
    for (const [name, shape] of inLayer) shapes.push([`model.layers.${layer}.${name}.weight`, shape])
  }
  shapes.push(['model.norm.weight', [D]])
  return shapes
}

/**
 * Writes the environment's model into a folder, with random weights: norms 1, all else normal with the standard deviation
 * `initializer_range` of its config. The same seed gives the same bytes.
 */
export async function createModel(dir: string, seed: number): Promise<void> {
  await mkdir(dir, { recursive: true })
  const config = JSON.parse(await readFile(join(modelFolder, 'config.json'), 'utf8')) as Qwen3Config
  const random = new SeededRandom(seed)
  const tensors = weightShapes(config).map(([name, shape]): FloatTensor => {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1))
    if (shape.length === 1) values.fill(1)
    else for (let i = 0; i < values.length; i++) values[i] = config.initializer_range * random.normal()
    return { name, shape, values }
  })
  for (const file of FILES) await copyFile(join(modelFolder, file), join(dir, file))
  const aside = join(dir, 'model.safetensors.tmp')
  await writeFile(aside, encodeSafetensors(tensors))
  await rename(aside, join(dir, 'model.safetensors'))
}
