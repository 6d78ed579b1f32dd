// Log-softmax over the vocabulary, by tiles of fixed size combined in order, so that it gives the same bits
// for a row whether its logits were stored, streamed, or come from linear_forward.
#pragma once
#include <cstdint>

#include "cpu/context.h"
#include "cpu/matmul.h"

namespace skillgate {

constexpr int64_t kVocabularyTile = 512;

inline int64_t vocabulary_tiles(int64_t V) {
  return (V + kVocabularyTile - 1) / kVocabularyTile;
}

struct RowSoftmax {
  float maximum = 0;   // of logit / temperature
  double log_sum = 0;  // log sum exp(logit / temperature - maximum)
  double entropy = 0;

  float logprob(float logit, float inverse_temperature) const {
    return static_cast<float>((static_cast<double>(logit * inverse_temperature) - maximum) - log_sum);
  }
};

RowSoftmax combine_tiles(const SoftmaxStats* tiles, int64_t count);

// tiles[i] of one row of logits [V].
void tile_stats(const Kernels& kernels, SoftmaxStats* tiles, const float* logits, int64_t V,
                float inverse_temperature);

// Logits of R rows of hidden [*, D] against lm_head [V, D], streamed through the cache.
struct LogitPass {
  RowSource hidden;
  int64_t R = 0, D = 0, V = 0;
  const float* lm_head = nullptr;
  Panels packed;  // perhaps none
  float inverse_temperature = 1;
  const int32_t* target = nullptr;  // [R]
  float* logits = nullptr;          // [R, V] out, or null
  SoftmaxStats* stats = nullptr;    // [R, vocabulary_tiles(V)] out
  float* target_logit = nullptr;    // [R] out
};
void run_logit_pass(CpuContext& context, const LogitPass& pass);

}  // namespace skillgate
