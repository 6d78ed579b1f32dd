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
  // [W] rows whose output is wanted, ascending; W -1: all. Of the others the last layer computes what these see
  // of them, keys and values, and nothing after attention.
  const int32_t* wanted = nullptr;
  int64_t W = -1;
};

class Decoder {
 public:
  Decoder(Backend& backend, const ModelConfig& config, const ParameterTable& table, const Parameters& weights,
          const PackedWeights& packed);
  ~Decoder();

  // Leaves the residual stream after the last layer in a.output(): of the wanted rows, one after the other.
  // `a` must be planned for rows.T. `stop`, if given, is looked at between layers: Failure ERR_ABORTED.
  void forward(const DecoderRows& rows, Activations& a, KvCache* cache, const std::atomic<bool>* stop) const;

  // a.d_output() = d(loss)/d(a.output()) on entry. Adds to the gradients of every tensor but the head and the final norm.
  void backward(const DecoderRows& rows, Activations& a, const Parameters& gradients,
                const std::atomic<bool>* stop) const;

  const ModelConfig& config() const { return config_; }
  const ParameterTable& table() const { return table_; }
  const Parameters& weights() const { return weights_; }
  const PackedWeights& packed() const { return packed_; }

 private:
  void layer_forward(int64_t l, const DecoderRows& rows, Activations& a, KvCache* cache) const;
  void attention_layer(int64_t l, const DecoderRows& rows, Activations& a, KvCache* cache) const;
  void feed_forward(int64_t l, Activations& a, Tensor x, Tensor o, Tensor x_next) const;
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
