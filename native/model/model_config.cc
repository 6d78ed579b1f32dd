#include "model/model_config.h"

#include <cmath>

#include "backend/status.h"

namespace skillgate {

namespace {
[[noreturn]] void bad(const std::string& text) {
  throw Failure("ERR_MODEL_CONFIG", "config.json: " + text);
}

const Json* present(const Json& o, const char* key) {
  const Json* v = o.find(key);
  return v && !v->is(Json::Kind::null) ? v : nullptr;
}

int64_t integer(const Json& o, const char* key, int64_t low, int64_t high, int64_t otherwise) {
  const Json* v = present(o, key);
  if (!v) {
    if (otherwise >= 0) return otherwise;
    bad(std::string("expected ") + key + ", found nothing");
  }
  const std::string range = std::to_string(low) + " to " + std::to_string(high);
  if (!v->is(Json::Kind::number))
    bad(std::string(key) + ": expected an integer " + range + ", got " + v->dump());
  int64_t n;
  try {
    n = v->integer();
  } catch (const Failure& e) {
    bad(std::string(key) + ": " + e.what());
  }
  if (n < low || n > high) bad(std::string(key) + ": expected " + range + ", got " + v->text());
  return n;
}

double real(const Json& o, const char* key, double otherwise) {
  const Json* v = present(o, key);
  if (!v) {
    if (otherwise > 0) return otherwise;
    bad(std::string("expected ") + key + ", found nothing");
  }
  if (!v->is(Json::Kind::number) || !(v->number() > 0) || !std::isfinite(v->number()))
    bad(std::string(key) + ": expected a positive number, got " + v->dump());
  return v->number();
}

bool flag(const Json& o, const char* key, bool otherwise) {
  const Json* v = present(o, key);
  if (!v) return otherwise;
  if (!v->is(Json::Kind::boolean)) bad(std::string(key) + ": expected true or false, got " + v->dump());
  return v->boolean();
}

std::string word(const Json& o, const char* key, const char* otherwise) {
  const Json* v = present(o, key);
  if (!v) return otherwise;
  if (!v->is(Json::Kind::string)) bad(std::string(key) + ": expected a string, got " + v->dump());
  return v->text();
}

// transformers 5 puts everything under rope_parameters; 4 has rope_theta beside rope_scaling (null: none).
RopeConfig rope_config(const Json& config, int64_t max_positions) {
  RopeConfig r;
  const Json* block = present(config, "rope_parameters");
  if (!block) block = present(config, "rope_scaling");
  if (block && !block->is(Json::Kind::object))
    bad("rope_parameters or rope_scaling: expected an object, got " + block->dump());
  r.theta = real(config, "rope_theta", block ? real(*block, "rope_theta", 10000.0) : 10000.0);
  if (!block) return r;
  const std::string type = word(*block, "rope_type", word(*block, "type", "default").c_str());
  if (type == "default") return r;
  if (type != "llama3") bad("rope_type: expected default or llama3, got " + type);
  r.llama3 = true;
  r.factor = real(*block, "factor", -1);
  r.low_frequency_factor = real(*block, "low_freq_factor", 1.0);
  r.high_frequency_factor = real(*block, "high_freq_factor", 4.0);
  r.original_max_positions =
      integer(*block, "original_max_position_embeddings", 1, int64_t{1} << 40, max_positions);
  if (r.high_frequency_factor <= r.low_frequency_factor)
    bad("high_freq_factor: expected more than low_freq_factor, got " +
        std::to_string(r.high_frequency_factor));
  return r;
}
}  // namespace

ModelConfig ModelConfig::parse(const Json& config) {
  if (!config.is(Json::Kind::object)) bad("expected an object");
  ModelConfig c;
  c.model_type = word(config, "model_type", "");
  if (c.model_type == "llama") {
    c.family = Family::llama;
  } else if (c.model_type == "qwen2") {
    c.family = Family::qwen2;
  } else if (c.model_type == "qwen3") {
    c.family = Family::qwen3;
  } else {
    bad("model_type: expected llama, qwen2 or qwen3, got \"" + c.model_type + "\"");
  }
  c.D = integer(config, "hidden_size", 1, 1 << 20, -1);
  c.L = integer(config, "num_hidden_layers", 1, 4096, -1);
  c.H = integer(config, "num_attention_heads", 1, 4096, -1);
  c.G = integer(config, "num_key_value_heads", 1, 4096, c.H);
  c.F = integer(config, "intermediate_size", 1, 1 << 24, -1);
  c.V = integer(config, "vocab_size", 1, 1 << 28, -1);
  if (c.H % c.G != 0)
    bad("num_key_value_heads: expected a divisor of num_attention_heads " + std::to_string(c.H) + ", got " +
        std::to_string(c.G));
  if (!present(config, "head_dim") && c.D % c.H != 0)
    bad("hidden_size: expected a multiple of num_attention_heads " + std::to_string(c.H) +
        " where head_dim is absent");
  c.E = integer(config, "head_dim", 2, 256, c.D / c.H);
  if (c.E % 2 != 0 || c.E > 256)
    bad("head_dim: expected an even number up to 256, got " + std::to_string(c.E));
  c.max_positions = integer(config, "max_position_embeddings", 1, int64_t{1} << 31, 2048);
  c.rms_eps = static_cast<float>(real(config, "rms_norm_eps", 1e-6));
  c.rope = rope_config(config, c.max_positions);
  c.tied_embeddings = flag(config, "tie_word_embeddings", false);
  const std::string act = word(config, "hidden_act", "silu");
  if (act != "silu" && act != "swish") bad("hidden_act: expected silu, got " + act);
  if (flag(config, "use_sliding_window", false)) bad("use_sliding_window: expected false, got true");
  if (const Json* types = present(config, "layer_types"))
    for (const Json& t : types->items())
      if (t.text() != "full_attention") bad("layer_types: expected full_attention only, got " + t.text());
  if (present(config, "quantization_config")) bad("quantization_config: expected unquantised weights");
  switch (c.family) {
    case Family::llama:
      c.qkv_bias = c.o_bias = flag(config, "attention_bias", false);
      c.mlp_bias = flag(config, "mlp_bias", false);
      break;
    case Family::qwen2:
      c.qkv_bias = true;
      break;
    case Family::qwen3:
      c.qkv_bias = c.o_bias = flag(config, "attention_bias", false);
      c.qk_norm = true;
      break;
  }
  return c;
}

}  // namespace skillgate
