#include "cpu/policy_loss.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "backend/status.h"
#include "cpu/matmul.h"
#include "cpu/policy_gradient.h"
#include "cpu/rows.h"
#include "cpu/vocabulary.h"

namespace skillgate {
namespace {

constexpr int64_t kLogitBytes = int64_t{160} << 20;  // at most, unless one row is more
constexpr int64_t kCachedLogitBytes = int64_t{16} << 20;
constexpr int64_t kWantedRows = 256;  // of a chunk, for the products' sake
constexpr int64_t kMostRows = 2048;
constexpr int64_t kBackwardTile = 8 * kVocabularyTile;

int64_t rows_a_chunk(int64_t V, bool store_logits) {
  if (!store_logits) return kMostRows;
  const int64_t row_bytes = V * static_cast<int64_t>(sizeof(float));
  const int64_t cached = std::max(kWantedRows, kCachedLogitBytes / row_bytes);
  return std::clamp<int64_t>(std::min(cached, kLogitBytes / row_bytes), 1, kMostRows);
}

void check_target(const int32_t* target, int64_t r, int64_t V) {
  if (target[r] >= 0 && target[r] < V) return;
  throw Failure("ERR_INVALID_TOKEN", "expected a target token of 0 .. " + std::to_string(V - 1) + " in row " +
                                         std::to_string(r) + ", got " + std::to_string(target[r]));
}

// Scratch memory of a chunk of rows.
struct Chunk {
  Chunk(Carver& c, int64_t rows, int64_t V, int64_t D, bool gradients)
      : stats(c.take<SoftmaxStats>(rows * vocabulary_tiles(V))),
        softmax(c.take<RowSoftmax>(rows)),
        target_logit(c.take<float>(rows)),
        target(c.take<int32_t>(rows)),
        slope(c.take<float>(rows)),
        sloped(c.take<int32_t>(rows)),
        sloped_row(c.take<int32_t>(rows)),
        logits(gradients ? c.take<float>(rows * V) : nullptr),
        d_hidden(gradients ? c.take<float>(rows * D) : nullptr) {}
  SoftmaxStats* stats;
  RowSoftmax* softmax;
  float* target_logit;
  int32_t* target;
  float* slope;         // d(loss)/d(logprob) / temperature
  int32_t* sloped;      // rows of the chunk whose slope is not 0
  int32_t* sloped_row;  // and their rows of hidden
  float* logits;        // later their gradients
  float* d_hidden;
};

class LossPass {
 public:
  LossPass(CpuContext& context, const PolicyLossArgs& args)
      : context_(context),
        args_(args),
        R_(args.hidden.shape[0]),
        D_(args.hidden.shape[1]),
        V_(args.lm_head.shape[0]),
        inverse_temperature_(1.f / args.temperature) {}

  PolicyLossResult run() {
    const std::vector<int32_t>& active = clear_outputs();
    const int64_t count = static_cast<int64_t>(active.size());
    const bool gradients = args_.d_hidden || args_.d_lm_head;
    const int64_t step = std::min(count, rows_a_chunk(V_, gradients));
    Carver measure;
    Chunk(measure, step, V_, D_, gradients);
    Carver carver(context_.loss_scratch.reserve(measure.used()));
    Chunk chunk(carver, step, V_, D_, gradients);
    for (int64_t begin = 0; begin < count; begin += step) {
      const int64_t rows = std::min(step, count - begin);
      forward(chunk, active.data() + begin, rows);
      const int64_t sloped = losses(chunk, active.data() + begin, rows);
      if (gradients && sloped > 0) backward(chunk, sloped);
    }
    if (args_.kl_coefficient != 0.f) result_.loss += args_.kl_coefficient * result_.kl_loss;
    return result_;
  }

 private:
  // The rows that carry loss. Everything about the others is set to 0 here and never looked at again.
  const std::vector<int32_t>& clear_outputs() {
    std::vector<int32_t>& active = context_.loss_rows;
    active.clear();
    for (int64_t r = 0; r < R_; ++r) {
      if (args_.weight[r] != 0.f || (args_.kl_weight && args_.kl_weight[r] != 0.f)) {
        check_target(args_.target, r, V_);
        active.push_back(static_cast<int32_t>(r));
      }
    }
    const size_t bytes = static_cast<size_t>(R_) * sizeof(float);
    if (args_.logprob) std::memset(args_.logprob, 0, bytes);
    if (args_.entropy) std::memset(args_.entropy, 0, bytes);
    if (args_.clipped) std::memset(args_.clipped, 0, static_cast<size_t>(R_));
    if (args_.d_hidden) std::memset(args_.d_hidden.data, 0, args_.d_hidden.bytes());
    return active;
  }

  void forward(Chunk& chunk, const int32_t* active, int64_t rows) {
    for (int64_t i = 0; i < rows; ++i) chunk.target[i] = args_.target[active[i]];
    LogitPass pass;
    pass.hidden = {args_.hidden.f32(), D_, active};
    pass.R = rows;
    pass.D = D_;
    pass.V = V_;
    pass.lm_head = args_.lm_head.f32();
    pass.packed = panels_in(args_.lm_head_packed);
    pass.inverse_temperature = inverse_temperature_;
    pass.target = chunk.target;
    pass.logits = chunk.logits;
    pass.stats = chunk.stats;
    pass.target_logit = chunk.target_logit;
    run_logit_pass(context_, pass);
  }

  // Returns how many rows have a slope.
  int64_t losses(Chunk& chunk, const int32_t* active, int64_t rows) {
    const int64_t tiles = vocabulary_tiles(V_);
    context_.for_ranges(rows, 8, rows * (tiles + 8) * 40, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) chunk.softmax[i] = combine_tiles(chunk.stats + i * tiles, tiles);
    });
    int64_t sloped = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t r = active[i];
      const float logprob = chunk.softmax[i].logprob(chunk.target_logit[i], inverse_temperature_);
      const TokenLoss token = token_loss(args_, r, logprob);
      if (args_.logprob) args_.logprob[r] = logprob;
      if (args_.entropy) args_.entropy[r] = static_cast<float>(chunk.softmax[i].entropy);
      if (args_.clipped) args_.clipped[r] = token.clipped;
      result_.loss += token.loss;
      result_.kl_loss += token.kl_loss;
      if (token.slope == 0) continue;
      chunk.slope[sloped] = static_cast<float>(token.slope) * inverse_temperature_;
      chunk.sloped[sloped] = static_cast<int32_t>(i);
      chunk.sloped_row[sloped++] = static_cast<int32_t>(r);
    }
    return sloped;
  }

  void backward(Chunk& chunk, int64_t sloped) {
    logit_gradients(chunk, sloped);
    const RowSource d_logits{chunk.logits, V_, chunk.sloped};
    if (args_.d_hidden) {
      matmul(context_,
             {sloped,
              D_,
              V_,
              {d_logits, false},
              {{}, {args_.lm_head.f32(), D_, nullptr}, false},
              nullptr,
              false,
              false},
             chunk.d_hidden, D_);
      scatter_rows(context_, args_.d_hidden.f32(), chunk.d_hidden, chunk.sloped_row, sloped, D_);
    }
    if (args_.d_lm_head) {
      matmul(context_,
             {V_,
              D_,
              sloped,
              {d_logits, true},
              {{}, {args_.hidden.f32(), D_, chunk.sloped_row}, false},
              nullptr,
              true,
              false},
             args_.d_lm_head.f32(), D_);
    }
  }

  // logits become d(loss)/d(logits) = slope / temperature * (onehot - p) in the rows that have a slope.
  void logit_gradients(Chunk& chunk, int64_t sloped) {
    const Kernels& kernels = context_.kernels;
    const int64_t parts = (V_ + kBackwardTile - 1) / kBackwardTile;
    context_.pool.run(
        sloped * parts, context_.threads_for(sloped * V_ / kernels.width * 12), [&](int64_t task, int) {
          const int64_t n = task / parts, v0 = task % parts * kBackwardTile, i = chunk.sloped[n];
          const int64_t v1 = std::min(V_, v0 + kBackwardTile);
          float* row = chunk.logits + i * V_;
          kernels.softmax_backward(row + v0, v1 - v0, inverse_temperature_, chunk.softmax[i].maximum,
                                   static_cast<float>(chunk.softmax[i].log_sum), chunk.slope[n]);
          if (chunk.target[i] >= v0 && chunk.target[i] < v1) row[chunk.target[i]] += chunk.slope[n];
        });
  }

  CpuContext& context_;
  const PolicyLossArgs& args_;
  const int64_t R_, D_, V_;
  const float inverse_temperature_;
  PolicyLossResult result_;
};

}  // namespace

int64_t policy_loss_bytes(int64_t R, int64_t D, int64_t V) {
  Carver measure;
  Chunk(measure, std::min(R, rows_a_chunk(V, true)), V, D, true);
  return static_cast<int64_t>(measure.used());
}

PolicyLossResult policy_loss(CpuContext& context, const PolicyLossArgs& args) {
  return LossPass(context, args).run();
}

void token_logprob(CpuContext& context, float* logprob, float* entropy, Tensor hidden, Tensor lm_head,
                   const void* packed, const int32_t* target, float temperature) {
  const int64_t R = hidden.shape[0], D = hidden.shape[1], V = lm_head.shape[0], tiles = vocabulary_tiles(V);
  for (int64_t r = 0; r < R; ++r) check_target(target, r, V);
  const int64_t step = std::min(R, kMostRows);
  Carver measure;
  Chunk(measure, step, V, D, false);
  Carver carver(context.loss_scratch.reserve(measure.used()));
  Chunk chunk(carver, step, V, D, false);
  for (int64_t begin = 0; begin < R; begin += step) {
    LogitPass pass;
    pass.hidden = {hidden.f32() + begin * D, D, nullptr};
    pass.R = std::min(step, R - begin);
    pass.D = D;
    pass.V = V;
    pass.lm_head = lm_head.f32();
    pass.packed = panels_in(packed);
    pass.inverse_temperature = 1.f / temperature;
    pass.target = target + begin;
    pass.stats = chunk.stats;
    pass.target_logit = chunk.target_logit;
    run_logit_pass(context, pass);
    context.for_ranges(pass.R, 8, pass.R * (tiles + 8) * 40, [&](int64_t first, int64_t last, int) {
      for (int64_t i = first; i < last; ++i) {
        const RowSoftmax row = combine_tiles(chunk.stats + i * tiles, tiles);
        logprob[begin + i] = row.logprob(chunk.target_logit[i], pass.inverse_temperature);
        if (entropy) entropy[begin + i] = static_cast<float>(row.entropy);
      }
    });
  }
}

}  // namespace skillgate
