#include "cpu/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace skillgate {
namespace {

constexpr int64_t kRowsATask = 168;  // whole tiles of 14 and of 6

}  // namespace

RowSoftmax combine_tiles(const SoftmaxStats* tiles, int64_t count) {
  RowSoftmax row;
  row.maximum = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    if (!(tiles[i].maximum <= row.maximum)) row.maximum = tiles[i].maximum;
  }
  double sum = 0, weighted = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (tiles[i].sum == 0.f) continue;  // a tile of -inf
    const double shift = static_cast<double>(tiles[i].maximum) - row.maximum;
    const double factor = shift == 0 ? 1.0 : std::exp(shift);
    sum += factor * tiles[i].sum;
    weighted += factor * (tiles[i].weighted_sum + shift * tiles[i].sum);
  }
  row.log_sum = std::log(sum);
  row.entropy = row.log_sum - weighted / sum;
  return row;
}

void tile_stats(const Kernels& kernels, SoftmaxStats* tiles, const float* logits, int64_t V,
                float inverse_temperature) {
  for (int64_t v0 = 0, i = 0; v0 < V; v0 += kVocabularyTile, ++i) {
    tiles[i] = kernels.softmax_stats(logits + v0, std::min(kVocabularyTile, V - v0), inverse_temperature);
  }
}

void run_logit_pass(CpuContext& context, const LogitPass& p) {
  if (p.R == 0) return;
  context.flop += 2 * p.R * p.V * p.D;
  const Kernels& kernels = context.kernels;
  const int64_t tiles = vocabulary_tiles(p.V);
  const int threads = context.threads_for(p.V * std::max<int64_t>(p.R, 2) * (p.D + 24) / kernels.width);
  const int64_t row_parts = (p.R + kRowsATask - 1) / kRowsATask;
  const int64_t most_rows = (p.R + row_parts - 1) / row_parts;
  const size_t product_bytes = matmul_scratch_bytes();
  const size_t tile_bytes = p.logits ? 0 : static_cast<size_t>(most_rows * kVocabularyTile) * sizeof(float);
  context.reserve_thread_scratch(threads, product_bytes + tile_bytes);
  const Product product{p.R,     p.V,   p.D, {p.hidden, false}, {p.packed, {p.lm_head, p.D, nullptr}, true},
                        nullptr, false, true};
  // Neighbouring tasks share a part of the LM head.
  context.pool.run(tiles * row_parts, threads, [&](int64_t task, int thread) {
    const int64_t i = task / row_parts, part = task % row_parts;
    const int64_t r0 = p.R * part / row_parts, r1 = p.R * (part + 1) / row_parts;
    const int64_t v0 = i * kVocabularyTile, v1 = std::min(p.V, v0 + kVocabularyTile);
    char* scratch = context.thread_scratch[thread].data();
    float* tile = p.logits ? p.logits + r0 * p.V + v0 : reinterpret_cast<float*>(scratch + product_bytes);
    const int64_t stride = p.logits ? p.V : kVocabularyTile;
    matmul_block(kernels, reinterpret_cast<float*>(scratch), product, r0, r1, v0, v1, tile, stride);
    for (int64_t r = r0; r < r1; ++r) {
      const float* row = tile + (r - r0) * stride;
      p.stats[r * tiles + i] = kernels.softmax_stats(row, v1 - v0, p.inverse_temperature);
      if (p.target[r] >= v0 && p.target[r] < v1) p.target_logit[r] = row[p.target[r] - v0];
    }
  });
}

}  // namespace skillgate
