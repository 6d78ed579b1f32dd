#include <cmath>
#include <limits>
#include <vector>

#include "cpu/attention.h"
#include "cpu/attention_blocks.h"

namespace skillgate {
namespace {

struct Task {
  int64_t segment, q0, q1, keys;
};

// One thread's memory for a block of `rows` query rows.
struct Workspace {
  Workspace(Carver& c, int rows, int64_t E, int padded)
      : queries(c.take<float>(rows * E)),
        columns(c.take<float>(kBlockKeys * E)),
        values(c.take<float>(int64_t{kBlockKeys} * padded)),
        sums(c.take<float>(int64_t{rows} * padded)),
        scores(c.take<float>(kMaxTileRows * kBlockKeys)),
        maximum(c.take<float>(rows)),
        total(c.take<float>(rows)) {}
  float *queries, *columns, *values, *sums, *scores, *maximum, *total;
};

class ForwardBlock {
 public:
  ForwardBlock(const Kernels& k, const AttentionSpans& spans, const AttentionShape& shape,
               const HeadPanels& panels, const Workspace& w, const Task& task, int64_t g)
      : k_(k),
        spans_(spans),
        shape_(shape),
        panels_(panels),
        w_(w),
        task_(task),
        g_(g),
        block_(k, spans, shape, task.segment, g, task.q0, task.q1, task.keys) {}

  void run(float* o, float* lse, const float* q, const float* key, const float* value) {
    pack_query_tiles(k_, block_, w_.queries, q, shape_.E, shape_.scale);
    for (int r = 0; r < block_.rows; ++r) {
      w_.maximum[r] = -std::numeric_limits<float>::infinity();
      w_.total[r] = 0.f;
    }
    KeyCursor cursor(spans_, task_.segment);
    const int64_t last = block_.visible(block_.rows - 1);
    for (int64_t k0 = 0; k0 < last; k0 += kBlockKeys) {
      int64_t rows[kBlockKeys];
      const int keys = cursor.next(static_cast<int>(std::min<int64_t>(kBlockKeys, last - k0)), rows);
      key_block(k0, keys, rows, key, value);
    }
    for (int r = 0; r < block_.rows; ++r) {
      k_.scale(o + block_.at(r) * shape_.E, w_.sums + int64_t{r} * panels_.padded, 1.f / w_.total[r],
               shape_.E);
      lse[block_.at(r)] = static_cast<float>(w_.maximum[r] + std::log(static_cast<double>(w_.total[r])));
    }
  }

 private:
  void key_block(int64_t k0, int keys, const int64_t* rows, const float* key, const float* value) {
    const float *key_rows[kBlockKeys], *value_rows[kBlockKeys];
    for (int j = 0; j < keys; ++j) {
      const int64_t at = (rows[j] * shape_.G + g_) * shape_.E;
      key_rows[j] = key + at;
      value_rows[j] = value + at;
    }
    pack_key_columns(k_, w_.columns, key_rows, keys, shape_.E);
    pack_head_panels(k_, panels_, w_.values, value_rows, keys);
    // Keys that only some rows of a tile see enter the others with weight 0, which is nothing unless the
    // value is not finite.
    const bool ragged = block_.visible_in(0, k0, keys) < keys;
    const bool row_by_row =
        ragged && !std::isfinite(k_.zero_if_finite(w_.values, int64_t{keys} * panels_.padded));
    for (int t = 0; t < block_.tiles; ++t) tile(t, k0, keys, row_by_row);
  }

  void tile(int t, int64_t k0, int keys, bool row_by_row) {
    const int start = block_.start(t), n = block_.start(t + 1) - start;
    const int seen = block_.visible_in(start + n - 1, k0, keys);
    if (seen == 0) return;
    tile_scores(k_, w_.scores, w_.queries + start * shape_.E, n, w_.columns, seen, shape_.E);
    for (int i = 0; i < n; ++i) {
      const int r = start + i;
      float shrink = k_.softmax_block(w_.scores + i * kBlockKeys, block_.visible_in(r, k0, keys),
                                      &w_.maximum[r], &w_.total[r]);
      if (shrink != 1.f && k0 > 0) {
        float* sums = w_.sums + int64_t{r} * panels_.padded;
        k_.scale(sums, sums, shrink, panels_.padded);
      }
    }
    if (!row_by_row) {
      tile_times_panels(k_, panels_, TileForm::row_major, w_.sums + int64_t{start} * panels_.padded,
                        w_.scores, n, w_.values, keys, 0, seen, k0 > 0);
      return;
    }
    for (int i = 0; i < n; ++i) {
      tile_times_panels(k_, panels_, TileForm::row_major, w_.sums + int64_t{start + i} * panels_.padded,
                        w_.scores + i * kBlockKeys, 1, w_.values, keys, 0,
                        block_.visible_in(start + i, k0, keys), k0 > 0);
    }
  }

  const Kernels& k_;
  const AttentionSpans& spans_;
  const AttentionShape& shape_;
  const HeadPanels& panels_;
  const Workspace& w_;
  const Task& task_;
  int64_t g_;
  QueryBlock block_;
};

}  // namespace

void attention_forward(CpuContext& context, float* o, float* lse, const float* q, const float* k,
                       const float* v, const AttentionSpans& spans, const AttentionShape& shape) {
  const Kernels& kernels = context.kernels;
  const HeadPanels panels(kernels, shape.E);
  const int64_t step = queries_a_block(shape);
  std::vector<Task> tasks;
  int64_t pairs = 0, most = 0;
  for (int64_t s = 0; s < spans.segments; ++s) {
    const int64_t queries = segment_queries(spans, s), keys = segment_keys(spans, s);
    for (int64_t q0 = 0; q0 < queries; q0 += step) {
      const int64_t q1 = std::min(queries, q0 + step), seen = keys - queries + q1;
      tasks.push_back({s, q0, q1, keys});
      pairs += (q1 - q0 + 4) * seen;
      most = std::max(most, q1 - q0);
    }
  }
  // The last blocks of a segment see the most keys: take them first.
  std::reverse(tasks.begin(), tasks.end());
  const int rows = static_cast<int>(most * (shape.H / shape.G));
  const int threads = context.threads_for(pairs * shape.H * (2 * shape.E + 16) / kernels.width);
  Carver measure;
  Workspace(measure, rows, shape.E, panels.padded);
  context.reserve_thread_scratch(threads, measure.used());
  context.pool.run(static_cast<int64_t>(tasks.size()) * shape.G, threads, [&](int64_t i, int thread) {
    Carver carver(context.thread_scratch[thread].data());
    const Workspace workspace(carver, rows, shape.E, panels.padded);
    ForwardBlock(kernels, spans, shape, panels, workspace, tasks[i / shape.G], i % shape.G)
        .run(o, lse, q, k, v);
  });
}

}  // namespace skillgate
