#include <cmath>
#include <limits>

#include "cpu/attention.h"
#include "cpu/attention_blocks.h"

namespace skillgate {
namespace {

// One thread's memory: what serves one block of keys at a time, and what each key/value head keeps.
struct Workspace {
  Workspace(Carver& c, int rows, int64_t E, int padded, int64_t heads)
      : columns(c.take<float>(kBlockKeys * E)),
        values(c.take<float>(int64_t{kBlockKeys} * padded)),
        scores(c.take<float>(kMaxTileRows * kBlockKeys)),
        queries(c.take<float>(heads * rows * E)),
        sums(c.take<float>(heads * rows * padded)),
        maximum(c.take<float>(heads * rows)),
        total(c.take<float>(heads * rows)) {}

  // The part of one of the heads.
  Workspace head(int64_t i, int rows, int64_t E, int padded) const {
    Workspace w = *this;
    w.queries += i * rows * E;
    w.sums += i * rows * padded;
    w.maximum += i * rows;
    w.total += i * rows;
    return w;
  }

  float *columns, *values, *scores, *queries, *sums, *maximum, *total;
};

// Fetches the next block's keys and values into the second-level cache, a few rows at a time between the
// pieces of work on this block, so that fetching and computing overlap.
class Prefetch {
 public:
  Prefetch(const float* key, const float* value, int64_t width) : x_{key, value}, width_(width) {}

  void start(const int64_t* rows, int count, int steps) {
    rows_ = rows;
    count_ = 2 * count;
    step_ = (count_ + steps - 1) / steps;
    done_ = 0;
  }
  void step() {
    for (int end = std::min(count_, done_ + step_); done_ < end; ++done_) {
      const float* row = x_[done_ & 1] + rows_[done_ / 2] * width_;
      for (int64_t i = 0; i < width_; i += 16) __builtin_prefetch(row + i, 0, 2);
    }
  }

 private:
  const float* x_[2];
  int64_t width_;
  const int64_t* rows_ = nullptr;
  int count_ = 0, step_ = 0, done_ = 0;
};

constexpr int kPiece = 8;  // keys packed between two steps of fetching

int block_keys(int64_t left) {
  return static_cast<int>(std::min<int64_t>(left, kBlockKeys));
}

class ForwardBlock {
 public:
  ForwardBlock(const Kernels& k, const AttentionSpans& spans, const AttentionShape& shape,
               const HeadPanels& panels, const Workspace& w, const ForwardTask& task, int64_t g)
      : k_(k),
        shape_(shape),
        panels_(panels),
        w_(w),
        g_(g),
        block_(k, spans, shape, task.segment, g, task.q0, task.q1, task.keys) {}

  int64_t keys() const { return block_.visible(block_.rows - 1); }

  void begin(const float* q) const {
    pack_query_tiles(k_, block_, w_.queries, q, shape_.E, shape_.scale);
    for (int r = 0; r < block_.rows; ++r) {
      w_.maximum[r] = -std::numeric_limits<float>::infinity();
      w_.total[r] = 0.f;
    }
  }

  void end(float* o, float* lse) const {
    for (int r = 0; r < block_.rows; ++r) {
      k_.scale(o + block_.at(r) * shape_.E, w_.sums + int64_t{r} * panels_.padded, 1.f / w_.total[r],
               shape_.E);
      lse[block_.at(r)] = static_cast<float>(w_.maximum[r] + std::log(static_cast<double>(w_.total[r])));
    }
  }

  void key_block(int64_t k0, int keys, const int64_t* rows, const float* key, const float* value,
                 Prefetch& next) {
    const float *key_rows[kBlockKeys], *value_rows[kBlockKeys];
    for (int j = 0; j < keys; ++j) {
      const int64_t at = (rows[j] * shape_.G + g_) * shape_.E;
      key_rows[j] = key + at;
      value_rows[j] = value + at;
    }
    for (int j = 0; j < keys; j += kPiece) {
      next.step();
      const int n = std::min(kPiece, keys - j), column = j % k_.tile_cols;
      const int padded = j + n == keys ? k_.tile_cols - column : n;
      k_.transpose(w_.columns + (j - column) * shape_.E + column, k_.tile_cols, key_rows + j, n, padded, 0,
                   shape_.E);
    }
    next.step();
    pack_head_panels(k_, panels_, w_.values, value_rows, keys);
    // Keys that only some rows of a tile see enter the others with weight 0, which is nothing unless the
    // value is not finite.
    const bool ragged = block_.visible_in(0, k0, keys) < keys;
    const bool row_by_row =
        ragged && !std::isfinite(k_.zero_if_finite(w_.values, int64_t{keys} * panels_.padded));
    for (int t = 0; t < block_.tiles; ++t) tile(t, k0, keys, row_by_row);
  }

 private:
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
  const AttentionShape& shape_;
  const HeadPanels& panels_;
  const Workspace w_;
  int64_t g_;
  QueryBlock block_;
};

}  // namespace

void attention_forward(CpuContext& context, float* o, float* lse, const float* q, const float* k,
                       const float* v, const AttentionSpans& spans, const AttentionShape& shape) {
  const Kernels& kernels = context.kernels;
  const HeadPanels panels(kernels, shape.E);
  const int64_t step = queries_a_block(shape);
  std::vector<ForwardTask>& tasks = context.attention.forward;
  tasks.clear();
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
  // With few queries, time goes into fetching keys: then one task takes all heads, whose keys lie side by
  // side.
  const bool all_heads = rows <= kMaxTileRows && static_cast<int64_t>(tasks.size()) >= threads;
  const int64_t heads = all_heads ? shape.G : 1, parts = shape.G / heads;
  Carver measure;
  Workspace(measure, rows, shape.E, panels.padded, heads);
  context.reserve_thread_scratch(threads, measure.used());
  context.pool.run(static_cast<int64_t>(tasks.size()) * parts, threads, [&](int64_t i, int thread) {
    Carver carver(context.thread_scratch[thread].data());
    const Workspace workspace(carver, rows, shape.E, panels.padded, heads);
    const ForwardTask& task = tasks[i / parts];
    auto head = [&](int64_t h) {
      return ForwardBlock(kernels, spans, shape, panels, workspace.head(h, rows, shape.E, panels.padded),
                          task, i % parts * heads + h);
    };
    for (int64_t h = 0; h < heads; ++h) head(h).begin(q);
    KeyCursor cursor(spans, task.segment);
    const int64_t last = head(0).keys();
    Prefetch next(k, v, shape.G * shape.E);
    int64_t key_rows[2][kBlockKeys];  // of this block and of the next one
    int keys = cursor.next(block_keys(last), key_rows[0]);
    for (int64_t k0 = 0, n = 0; k0 < last; k0 += kBlockKeys, n ^= 1) {
      const int next_keys = cursor.next(block_keys(last - k0 - keys), key_rows[n ^ 1]);
      if (all_heads)
        next.start(key_rows[n ^ 1], next_keys, static_cast<int>(heads) * (kBlockKeys / kPiece + 1));
      for (int64_t h = 0; h < heads; ++h) head(h).key_block(k0, keys, key_rows[n], k, v, next);
      keys = next_keys;
    }
    for (int64_t h = 0; h < heads; ++h) head(h).end(o, lse);
  });
}

}  // namespace skillgate
