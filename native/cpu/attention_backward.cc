#include "cpu/attention.h"
#include "cpu/attention_blocks.h"
#include "cpu/attention_plan.h"

namespace skillgate {
namespace {

struct Gradients {
  float *dq, *dk, *dv;
  const float *d_o, *lse, *delta, *q, *k, *v;
  // [T, H]: what rounding leaves of the sum of a query's ds, which is 0 (softmax does not change by a shift).
  // The query's own key, the last it sees, takes it back; the gradient of a bias of k is all cancellation.
  float* rest;
};

struct Workspace {
  Workspace(Carver& c, int64_t rows, int64_t E, int64_t padded)
      : queries(c.take<float>(rows * E)),
        douts(c.take<float>(rows * E)),
        query_panels(c.take<float>(rows * padded)),
        dout_panels(c.take<float>(rows * padded)),
        dq(c.take<float>(rows * padded)),
        key_columns(c.take<float>(kBlockKeys * E)),
        value_columns(c.take<float>(kBlockKeys * E)),
        key_panels(c.take<float>(kBlockKeys * padded)),
        p(c.take<float>(rows * kBlockKeys)),
        ds(c.take<float>(rows * kBlockKeys)),
        sums(c.take<double>(rows)),
        block(c.take<float>(kMaxTileRows * padded)) {}
  float *queries, *douts, *query_panels, *dout_panels, *dq, *key_columns, *value_columns, *key_panels, *p,
      *ds;
  double* sums;  // of ds, a query
  float* block;
};

class BackwardBlock {
 public:
  BackwardBlock(const Kernels& k, const AttentionSpans& spans, const AttentionShape& shape,
                const HeadPanels& panels, const Workspace& w, const Gradients& x, const BackwardTask& part,
                int64_t g, int64_t segment, int64_t q0, int64_t q1, int64_t keys)
      : k_(k),
        spans_(spans),
        shape_(shape),
        panels_(panels),
        w_(w),
        x_(x),
        part_(part),
        segment_(segment),
        g_(g),
        block_(k, spans, shape, segment, g, q0, q1, keys) {}

  void run() {
    const int64_t E = shape_.E;
    const int64_t end = std::min(part_.k_end, block_.visible(block_.rows - 1));
    if (part_.k_begin >= end) return;
    pack_query_tiles(k_, block_, w_.queries, x_.q, E, shape_.scale);
    pack_query_tiles(k_, block_, w_.douts, x_.d_o, E, 1.f);
    if (part_.want_dkv) {
      pack_row_panels(w_.query_panels, x_.q);
      k_.scale(w_.query_panels, w_.query_panels, shape_.scale, int64_t{block_.rows} * panels_.padded);
      pack_row_panels(w_.dout_panels, x_.d_o);
    }
    if (part_.want_dq) std::fill_n(w_.sums, block_.rows, 0.0);
    KeyCursor cursor(spans_, segment_);
    cursor.skip(part_.k_begin);
    for (int64_t k0 = part_.k_begin; k0 < end; k0 += kBlockKeys) {
      int64_t rows[kBlockKeys];
      const int keys = cursor.next(static_cast<int>(std::min<int64_t>(kBlockKeys, end - k0)), rows);
      for (int j = 0; j < keys; ++j) rows[j] = (rows[j] * shape_.G + g_) * E;
      key_block(k0, keys, rows);
    }
    if (!part_.want_dq) return;
    for (int r = 0; r < block_.rows; ++r) {
      k_.scale(x_.dq + block_.at(r) * E, w_.dq + int64_t{r} * panels_.padded, shape_.scale, E);
    }
  }

 private:
  // All rows of the block as panels, in pieces of pointers.
  void pack_row_panels(float* to, const float* x) {
    for (int p = 0; p < panels_.count; ++p) {
      const int width = panels_.vectors(p) * k_.width;
      float* panel = to + int64_t{panels_.first(p)} * block_.rows;
      for (int r = 0; r < block_.rows; r += kBlockKeys) {
        const float* from[kBlockKeys];
        const int n = std::min(kBlockKeys, block_.rows - r);
        for (int i = 0; i < n; ++i) from[i] = x + block_.at(r + i) * shape_.E;
        k_.pack_panel(panel + int64_t{r} * width, from, n, panels_.first(p), panels_.size(p), width);
      }
    }
  }

  void key_block(int64_t k0, int keys, const int64_t* at) {
    const float *key_rows[kBlockKeys], *value_rows[kBlockKeys];
    for (int j = 0; j < keys; ++j) {
      key_rows[j] = x_.k + at[j];
      value_rows[j] = x_.v + at[j];
    }
    pack_key_columns(k_, w_.key_columns, key_rows, keys, shape_.E);
    pack_key_columns(k_, w_.value_columns, value_rows, keys, shape_.E);
    if (part_.want_dq) pack_head_panels(k_, panels_, w_.key_panels, key_rows, keys);
    int first_row = block_.rows;  // the first that sees any of the keys
    for (int t = 0; t < block_.tiles; ++t) {
      const int start = block_.start(t), n = block_.start(t + 1) - start;
      const int seen = block_.visible_in(start + n - 1, k0, keys);
      if (seen == 0) continue;
      first_row = std::min(first_row, start);
      score_tile(k0, keys, start, n, seen);
      if (!part_.want_dq) continue;
      tile_times_panels(k_, panels_, TileForm::row_major, w_.dq + int64_t{start} * panels_.padded,
                        w_.ds + start * kBlockKeys, n, w_.key_panels, keys, 0, seen, k0 > 0);
    }
    if (!part_.want_dkv || first_row == block_.rows) return;
    add_columns(x_.dv, at, keys, w_.p, w_.dout_panels, first_row);
    add_columns(x_.dk, at, keys, w_.ds, w_.query_panels, first_row);
  }

  void score_tile(int64_t k0, int keys, int start, int n, int seen) {
    float* p = w_.p + start * kBlockKeys;
    float* ds = w_.ds + start * kBlockKeys;
    tile_scores(k_, p, w_.queries + start * shape_.E, n, w_.key_columns, seen, shape_.E);
    tile_scores(k_, ds, w_.douts + start * shape_.E, n, w_.value_columns, seen, shape_.E);
    for (int i = 0; i < n; ++i) {
      const int64_t row = block_.at(start + i);
      const int visible = block_.visible_in(start + i, k0, keys);
      float* d = ds + i * kBlockKeys;
      k_.softmax_block_backward(p + i * kBlockKeys, d, visible, x_.lse[row], x_.delta[row]);
      if (part_.want_dq) w_.sums[start + i] += k_.exact_sum(d, kBlockKeys);
      if (visible == 0 || k0 + visible < block_.visible(start + i)) continue;
      if (part_.want_dq) x_.rest[row] = static_cast<float>(w_.sums[start + i]);
      d[visible - 1] -= x_.rest[row];
    }
  }

  // to[key j] += sum over the block's rows r of weights[r, j] * panels[r]
  void add_columns(float* to, const int64_t* at, int keys, const float* weights, const float* panels,
                   int first_row) {
    const int tiles = (keys + k_.tile_rows - 1) / k_.tile_rows;
    for (int t = 0; t < tiles; ++t) {
      const int start = tile_start(keys, tiles, t), n = tile_start(keys, tiles, t + 1) - start;
      tile_times_panels(k_, panels_, TileForm::transposed, w_.block, weights + first_row * kBlockKeys + start,
                        n, panels, block_.rows, first_row, block_.rows - first_row, false);
      for (int i = 0; i < n; ++i) k_.add(to + at[start + i], w_.block + i * panels_.padded, shape_.E);
    }
  }

  const Kernels& k_;
  const AttentionSpans& spans_;
  const AttentionShape& shape_;
  const HeadPanels& panels_;
  const Workspace& w_;
  const Gradients& x_;
  const BackwardTask& part_;
  int64_t segment_, g_;
  QueryBlock block_;
};

// Splits the work into tasks. One pass computes all three gradients in one task for each head and cluster; if
// that leaves threads without work, two passes (dq and rest by queries, then dk and dv by keys) recompute the
// scores. Both sum in the same order.
void plan_two_passes(AttentionPlan& plan, const AttentionSpans& spans, const AttentionShape& shape,
                     int threads, int64_t step, bool dkv_pass) {
  plan.backward.clear();
  for (const SegmentCluster& c : plan.clusters) {
    const int64_t* segments = plan.segments.data() + c.first;
    if (!dkv_pass) {
      for (int64_t n = 0; n < c.count; ++n) {
        const int64_t queries = segment_queries(spans, segments[n]);
        for (int64_t q0 = 0; q0 < queries; q0 += step) {
          plan.backward.push_back(
              {segments + n, 1, q0, std::min(queries, q0 + step), 0, c.longest_keys, true, false});
        }
      }
      continue;
    }
    const int64_t blocks = (c.longest_keys + kBlockKeys - 1) / kBlockKeys;
    const int64_t pieces =
        c.aligned ? std::clamp<int64_t>(4 * threads / shape.G, 1, std::max<int64_t>(blocks, 1)) : 1;
    for (int64_t i = 0; i < pieces; ++i) {
      plan.backward.push_back({segments, c.count, 0, shape.T, blocks * i / pieces * kBlockKeys,
                               blocks * (i + 1) / pieces * kBlockKeys, false, true});
    }
  }
}

void plan_one_pass(AttentionPlan& plan, const AttentionShape& shape) {
  plan.backward.clear();
  for (const SegmentCluster& c : plan.clusters) {
    plan.backward.push_back(
        {plan.segments.data() + c.first, c.count, 0, shape.T, 0, c.longest_keys, true, true});
  }
}

bool one_pass_is_balanced(const AttentionPlan& plan, int64_t heads, int threads) {
  int64_t total = 0, longest = 0;
  for (const SegmentCluster& c : plan.clusters) {
    total += c.pairs * heads;
    longest = std::max(longest, c.pairs);
  }
  const int64_t tasks = static_cast<int64_t>(plan.clusters.size()) * heads;
  const int64_t rounds = (tasks + threads - 1) / threads;
  const int64_t most = std::min(rounds * longest, total / threads + longest);
  return threads == 1 || most * threads * 10 <= total * 14;
}

}  // namespace

void attention_backward(CpuContext& context, float* dq, float* dk, float* dv, const float* d_o,
                        const float* o, const float* lse, const float* q, const float* k, const float* v,
                        const AttentionSpans& spans, const AttentionShape& shape) {
  const Kernels& kernels = context.kernels;
  const HeadPanels panels(kernels, shape.E);
  const int64_t step = queries_a_block(shape);
  AttentionPlan& plan = context.attention;
  plan.find_clusters(spans, shape.rows);
  int64_t pairs = 0, most = 0;
  for (int64_t s = 0; s < spans.segments; ++s)
    most = std::max(most, std::min(step, segment_queries(spans, s)));
  for (const SegmentCluster& c : plan.clusters) pairs += c.pairs;
  const int threads = context.threads_for(pairs * shape.H * (5 * shape.E + 24) / kernels.width);

  const int64_t rows = shape.T * shape.H;
  float* delta =
      reinterpret_cast<float*>(context.scratch.reserve(static_cast<size_t>(2 * rows) * sizeof(float)));
  context.for_ranges(rows, 64, rows * (shape.E / kernels.width + 4), [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) delta[r] = kernels.dot(d_o + r * shape.E, o + r * shape.E, shape.E);
  });

  const Gradients x{dq, dk, dv, d_o, lse, delta, q, k, v, delta + rows};
  const int64_t block_rows = most * (shape.H / shape.G);
  Carver measure;
  Workspace(measure, block_rows, shape.E, panels.padded);
  context.reserve_thread_scratch(threads, measure.used());
  auto run = [&] {
    context.pool.run(
        static_cast<int64_t>(plan.backward.size()) * shape.G, threads, [&](int64_t i, int thread) {
          Carver carver(context.thread_scratch[thread].data());
          const Workspace workspace(carver, block_rows, shape.E, panels.padded);
          const BackwardTask& task = plan.backward[i / shape.G];
          for (int64_t n = 0; n < task.segment_count; ++n) {
            const int64_t s = task.segments[n], end = std::min(task.q_end, segment_queries(spans, s));
            for (int64_t q0 = task.q_begin; q0 < end; q0 += step) {
              BackwardBlock(kernels, spans, shape, panels, workspace, x, task, i % shape.G, s, q0,
                            std::min(end, q0 + step), plan.keys[s])
                  .run();
            }
          }
        });
  };
  if (one_pass_is_balanced(plan, shape.G, threads)) {
    plan_one_pass(plan, shape);
    run();
  } else {
    plan_two_passes(plan, spans, shape, threads, step, false);
    run();
    plan_two_passes(plan, spans, shape, threads, step, true);
    run();
  }
}

}  // namespace skillgate
