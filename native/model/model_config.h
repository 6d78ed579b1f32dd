// The shape of a decoder-only network, from a Hugging Face config.json (as transformers 4 and 5 write it).
#pragma once
#include <cstdint>
#include <string>

#include "io/json.h"

namespace skillgate {

enum class Family : uint8_t { llama, qwen2, qwen3 };

struct RopeConfig {
  double theta = 10000;
  bool llama3 = false;  // scaled as Llama 3.1 does it
  double factor = 1, low_frequency_factor = 1, high_frequency_factor = 4;
  int64_t original_max_positions = 8192;
};

struct ModelConfig {
  Family family = Family::llama;
  std::string model_type;
  int64_t D = 0, L = 0, H = 0, G = 0, E = 0, F = 0, V = 0;  // symbols: backend/backend.h; L = layers
  int64_t max_positions = 0;
  float rms_eps = 1e-6f;
  RopeConfig rope;
  bool tied_embeddings = false;
  bool qkv_bias = false, o_bias = false, mlp_bias = false;
  bool qk_norm = false;

  // Failure ERR_MODEL_CONFIG naming the field, what was expected and what came.
  static ModelConfig parse(const Json& config);
};

}  // namespace skillgate
