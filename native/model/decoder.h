// The network, written once against backend.h: forward and backward over packed rows, layer by layer.
//
//   n1 = norm(x)          q, k, v = n1.Wq^T, n1.Wk^T, n1.Wv^T (+ bias; heads normalised in qwen3; rope)
//   x_mid = x + attention(q, k, v).Wo^T
//   n2 = norm(x_mid)      x' = x_mid + (silu(n2.Wgate^T) * n2.Wup^T).Wdown^T
//   hidden = norm(x[L])   logits = hidden.Whead^T
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "model/activations.h"
#include "model/kv_cache.h"
#include "model/model_config.h"
#include "model/params.h"

namespace skillgate {

// The rows of one pass; host memory.
struct DecoderRows {
  int64_t T = 0;
  const int32_t* tokens = nullptr;      // [T]
  const int32_t* positions = nullptr;   // [T]
  AttentionSpans spans;                 // over the rows themselves, or over the cache's rows
  const int32_t* cache_rows = nullptr;  // [T] where each row's key and value go; null: no cache
};

class Decoder {
 public:
  Decoder(Backend& backend, const ModelConfig& config, const ParameterTable& table, const Parameters& weights,
          const PackedWeights& packed);
  ~Decoder();

  // Leaves the residual stream after the last layer in a.x[L]. `a` must be planned for rows.T. `stop`, if
  // given, is looked at between layers: Failure ERR_ABORTED.
  void forward(const DecoderRows& rows, Activations& a, KvCache* cache, const std::atomic<bool>* stop) const;

  // a.dx = d(loss)/d(x[L]) on entry. Adds to the gradients of every tensor but the head and the final norm.
  void backward(const DecoderRows& rows, Activations& a, const Parameters& gradients,
                const std::atomic<bool>* stop) const;

  const ModelConfig& config() const { return config_; }
  const ParameterTable& table() const { return table_; }
  const Parameters& weights() const { return weights_; }
  const PackedWeights& packed() const { return packed_; }

 private:
  void layer_forward(int64_t l, const DecoderRows& rows, Activations& a, Tensor x, Tensor x_next,
                     KvCache* cache) const;
  void layer_backward(int64_t l, const DecoderRows& rows, Activations& a, const Parameters& gradients) const;
  void linear(Tensor y, Tensor x, int weight, int bias) const;
  void prepare_rope(int64_t positions) const;

  Backend& backend_;
  const ModelConfig& config_;
  const ParameterTable& table_;
  const Parameters& weights_;
  const PackedWeights& packed_;
  mutable Tensor cosine_, sine_;  // [positions, E/2], grown on demand
};

// Angle step of each of the E/2 pairs, with Llama 3's scaling where the config asks for it.
std::vector<float> rope_frequencies(const ModelConfig& config);

}  // namespace skillgate
