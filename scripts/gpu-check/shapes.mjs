/** Models of two sizes, as config.json has them; their weights are never trained. */
const shared = {
  model_type: 'qwen3',
  architectures: ['Qwen3ForCausalLM'],
  vocab_size: 151_936,
  num_key_value_heads: 8,
  head_dim: 128,
  hidden_act: 'silu',
  max_position_embeddings: 40_960,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  attention_bias: false,
  torch_dtype: 'bfloat16',
  eos_token_id: 151_645,
}
const small = {
  ...shared,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  tie_word_embeddings: true,
}
const large = {
  ...shared,
  hidden_size: 4096,
  intermediate_size: 12_288,
  num_hidden_layers: 36,
  num_attention_heads: 32,
  tie_word_embeddings: false,
}

/** The LM head with its loss, all rows with loss. */
export const lossShapes = [
  { T: 8192, D: 1024, V: 151_936, rounds: 7 },
  { T: 8192, D: 4096, V: 151_936, rounds: 5 },
]

/** An 8B model with optimizer state takes more than one GPU: its update is measured on some of its layers. */
export const updateShapes = [
  { name: '0.6B', config: small, sequences: 8, length: 2048 },
  { name: '8B, 4 of 36 layers', config: { ...large, num_hidden_layers: 4 }, sequences: 4, length: 2048 },
]

export const decodeShapes = [
  { name: '0.6B', config: small, sequences: 1, length: 512, tokens: 64 },
  { name: '0.6B', config: small, sequences: 64, length: 512, tokens: 64 },
  { name: '8B', config: large, sequences: 1, length: 512, tokens: 32 },
  { name: '8B', config: large, sequences: 64, length: 512, tokens: 32 },
]
