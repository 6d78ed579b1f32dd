// LM head, policy-gradient loss and their gradients, by chunks of rows. Per chunk: logits, the row kernel,
// then the two backward products over the rows whose slope is not 0. The chunks depend on the shapes alone.
#include <algorithm>
#include <string>
#include <vector>

#include "backend/status.h"
#include "cuda/loss_rows.cuh"
#include "cuda/ops.h"

namespace skillgate::cuda {
namespace {

constexpr int64_t kLogitBytes = int64_t{1280} << 20, kMostRows = 4096;
constexpr int kCompactThreads = 1024;

// The rows whose slope is not 0, in order: their places in the chunk and in hidden, and how many there are.
struct SlopedRows {
  int32_t *place, *hidden_row, *count;
};

__global__ void __launch_bounds__(kCompactThreads)
    compact_rows_kernel(SlopedRows out, const RowResult* results, const int32_t* index, int64_t rows) {
  SKILLGATE_SHARED(int, warp_counts, [kCompactThreads / kWarp]);
  int before = 0;  // in earlier rounds
  for (int64_t base = 0; base < rows; base += kCompactThreads) {
    const int64_t r = base + threadIdx.x;
    const bool sloped = r < rows && results[r].slope != 0.f;
    const unsigned lanes = __ballot_sync(kAllLanes, sloped);
    __syncthreads();  // the last round's counts have been read
    if (lane_id() == 0) warp_counts[warp_id()] = __popc(lanes);
    __syncthreads();  // every warp's count is there
    int at = before + __popc(lanes & ((1u << lane_id()) - 1));
    for (int w = 0; w < kCompactThreads / kWarp; w++) {
      if (w < warp_id()) at += warp_counts[w];
      before += warp_counts[w];
    }
    if (sloped) {
      out.place[at] = static_cast<int32_t>(r);
      out.hidden_row[at] = index[r];
    }
  }
  if (threadIdx.x == 0) *out.count = before;
}

// What the LM head sees of one call.
struct Head {
  const ProductEngine& engine;
  const float *hidden, *weight;
  const bf16* packed = nullptr;  // bf16 only
  int64_t D, V;
  float temperature;
};

int64_t rows_a_chunk(int64_t stride) {
  return std::clamp<int64_t>(kLogitBytes / (stride * static_cast<int64_t>(sizeof(float))), 1, kMostRows);
}

class LossPass {
 public:
  LossPass(Context& context, Context::Scratch& scratch, const Head& head, const LossOptions& options,
           const std::vector<LossRow>& rows, const std::vector<int32_t>& index)
      : context_(context),
        head_(head),
        options_(options),
        plan_(RowPlan::make(context.device(), head.V)),
        stride_(round_up<int64_t>(head.V, 4)),
        count_(static_cast<int64_t>(rows.size())),
        chunk_(std::min(count_, rows_a_chunk(stride_))),
        rows_(scratch.upload(rows.data(), count_)),
        index_(scratch.upload(index.data(), count_)),
        results_(scratch.take<RowResult>(count_)),
        logits_(scratch.take<float>(chunk_ * stride_)) {
    if (head.engine.bf16) hidden_bf16_ = scratch.take<bf16>(chunk_ * bf16_stride(head.D));
  }

  // Rows begin .. end; where there are gradients, adds to d_lm_head and writes rows of d_hidden.
  void run(int64_t begin, int64_t end, Tensor d_hidden, Tensor d_lm_head) {
    for (int64_t at = begin; at < end; at += chunk_) {
      const int64_t n = std::min(chunk_, end - at);
      logits(at, n);
      if (head_.engine.bf16) {
        chunk<bf16>(at, n, d_hidden, d_lm_head);
      } else {
        chunk<float>(at, n, d_hidden, d_lm_head);
      }
    }
  }

  std::vector<RowResult> results() {
    std::vector<RowResult> host(static_cast<size_t>(count_));
    context_.download(host.data(), results_, host.size() * sizeof(RowResult));
    return host;
  }

 private:
  // Rows of hidden as the products want them: places `rows` of the chunk, or all of it.
  Operand<bf16> hidden(const bf16*, const int32_t* rows, const int32_t*) const {
    return {hidden_bf16_, bf16_stride(head_.D), true, rows};
  }
  Operand<float> hidden(const float*, const int32_t*, const int32_t* hidden_rows) const {
    return {head_.hidden, head_.D, true, hidden_rows};
  }
  Operand<bf16> weights(const bf16*) const { return {head_.packed, bf16_stride(head_.D), true, nullptr}; }
  Operand<float> weights(const float*) const { return {head_.weight, head_.D, true, nullptr}; }
  Operand<bf16> d_logits(const bf16*) const {
    return {reinterpret_cast<bf16*>(logits_), 2 * stride_, true, nullptr};
  }
  Operand<float> d_logits(const float*) const { return {logits_, stride_, true, nullptr}; }
  void product(const Product<bf16>& p) { multiply(context_, head_.engine, p); }
  void product(const Product<float>& p) { multiply(context_, p); }

  void logits(int64_t at, int64_t n) {
    if (head_.engine.bf16) {
      convert_rows(context_, hidden_bf16_, head_.hidden, n, head_.D, index_ + at);
      logits_product(static_cast<const bf16*>(nullptr), at, n);
    } else {
      logits_product(static_cast<const float*>(nullptr), at, n);
    }
  }

  template <class T>
  void logits_product(const T* kind, int64_t at, int64_t n) {
    Product<T> p;
    p.M = n;
    p.N = head_.V;
    p.K = head_.D;
    p.left = hidden(kind, nullptr, index_ + at);
    p.right = weights(kind);
    p.out = logits_;
    p.out_stride = stride_;
    product(p);
  }

  template <class T>
  void chunk(int64_t at, int64_t n, Tensor d_hidden, Tensor d_lm_head) {
    const T* kind = nullptr;
    const bool gradients = d_hidden || d_lm_head;
    // cuBLASLt takes whole chunks only.
    const bool whole = head_.engine.bf16 && head_.engine.cublaslt;
    const LossRowsArgs args{
        plan_,     logits_, stride_, rows_ + at, results_ + at, options_, 1.f / head_.temperature,
        gradients, whole};
    context_.launch_cluster("loss_rows", loss_rows_kernel<T>, plan_.cluster,
                            dim3(static_cast<unsigned>(n * plan_.cluster)),
                            static_cast<unsigned>(plan_.threads), plan_.shared_bytes(), args);
    if (!gradients) return;

    Context::Scratch scratch(context_);
    SlopedRows sloped{};
    const int32_t* hidden_rows = index_ + at;
    if (!whole) {
      sloped = {scratch.take<int32_t>(n), scratch.take<int32_t>(n), scratch.take<int32_t>(1)};
      context_.launch("compact_rows", compact_rows_kernel, dim3(1), kCompactThreads, 0, sloped,
                      static_cast<const RowResult*>(results_ + at), hidden_rows, n);
      hidden_rows = sloped.hidden_row;
    }
    if (d_hidden) {
      Product<T> p;  // d_hidden = d_logits . lm_head
      p.M = n;
      p.N = head_.D;
      p.K = head_.V;
      p.left = d_logits(kind);
      p.left.rows = sloped.place;
      p.right = weights(kind);
      p.right.k_contiguous = false;
      p.m_count = sloped.count;
      p.out = whole ? scratch.take<float>(n * head_.D) : d_hidden.f32();
      p.out_stride = head_.D;
      p.out_rows = whole ? nullptr : hidden_rows;
      product(p);
      if (whole)
        scatter_rows(context_, d_hidden, Tensor(p.out, DType::f32, {n, head_.D}),
                     Tensor(const_cast<int32_t*>(hidden_rows), DType::i32, {n}));
    }
    if (d_lm_head) {
      Product<T> p;  // d_lm_head += d_logits^T . hidden
      p.M = head_.V;
      p.N = head_.D;
      p.K = n;
      p.left = d_logits(kind);
      p.left.k_contiguous = false;
      p.left.rows = sloped.place;
      p.right = hidden(kind, sloped.place, hidden_rows);
      p.right.k_contiguous = false;
      p.k_count = sloped.count;
      p.out = d_lm_head.f32();
      p.out_stride = head_.D;
      p.accumulate = true;
      product(p);
    }
  }

  Context& context_;
  const Head& head_;
  const LossOptions options_;
  const RowPlan plan_;
  const int64_t stride_, count_, chunk_;
  const LossRow* rows_;
  const int32_t* index_;
  RowResult* results_;
  float* logits_;
  bf16* hidden_bf16_ = nullptr;
};

Head make_head(Context& context, Context::Scratch& scratch, const ProductEngine& engine, Tensor hidden,
               Tensor lm_head, const void* packed, float temperature) {
  Head head{engine,           hidden.f32(),     lm_head.f32(), static_cast<const bf16*>(packed),
            lm_head.shape[1], lm_head.shape[0], temperature};
  if (engine.bf16 && !packed) {
    bf16* copy = scratch.take<bf16>(head.V * bf16_stride(head.D));
    convert_rows(context, copy, head.weight, head.V, head.D);
    head.packed = copy;
  }
  return head;
}

void check_target(const int32_t* target, int64_t r, int64_t V) {
  if (target[r] >= 0 && target[r] < V) return;
  throw Failure("ERR_INVALID_TOKEN", "expected a target token of 0 .. " + std::to_string(V - 1) + " in row " +
                                         std::to_string(r) + ", got " + std::to_string(target[r]));
}

// Rows that can have a slope, then those that only want their logprob; absent rows are in neither.
struct ActiveRows {
  std::vector<int32_t> index;
  int64_t trained = 0;
};

ActiveRows active_rows(const PolicyLossArgs& a) {
  ActiveRows rows;
  std::vector<int32_t> scored;
  const bool kl = a.reference_logprob && a.kl_coefficient != 0.f;
  for (int64_t r = 0; r < a.hidden.shape[0]; r++) {
    const bool in_kl = a.kl_weight && a.kl_weight[r] != 0.f;
    if (a.weight[r] == 0.f && !in_kl) continue;
    check_target(a.target, r, a.lm_head.shape[0]);
    const bool sloped = (a.weight[r] != 0.f && a.advantage[r] != 0.f) || (kl && in_kl);
    (sloped ? rows.index : scored).push_back(static_cast<int32_t>(r));
  }
  rows.trained = static_cast<int64_t>(rows.index.size());
  rows.index.insert(rows.index.end(), scored.begin(), scored.end());
  return rows;
}

}  // namespace

int64_t policy_loss_bytes(const ProductEngine& engine, int64_t R, int64_t D, int64_t V) {
  const int64_t stride = round_up<int64_t>(V, 4), chunk = std::min(R, rows_a_chunk(stride));
  const auto bytes = [](int64_t count, size_t size) { return count * static_cast<int64_t>(size); };
  int64_t total =
      bytes(R, sizeof(LossRow) + sizeof(RowResult) + sizeof(int32_t)) + bytes(chunk * stride, sizeof(float));
  if (engine.bf16) total += bytes(chunk * bf16_stride(D), sizeof(bf16));
  // cuBLASLt's rows of d_hidden, or the compacted rows' places.
  total += engine.bf16 && engine.cublaslt ? bytes(chunk * D, sizeof(float))
                                          : bytes(2 * chunk + 1, sizeof(int32_t));
  return total;
}

PolicyLossResult policy_loss(Context& context, const ProductEngine& engine, const PolicyLossArgs& a) {
  const int64_t R = a.hidden.shape[0];
  if (a.logprob) std::fill_n(a.logprob, R, 0.f);
  if (a.entropy) std::fill_n(a.entropy, R, 0.f);
  if (a.clipped) std::fill_n(a.clipped, R, uint8_t{0});
  const ActiveRows active = active_rows(a);
  if (a.d_hidden) context.zero(a.d_hidden.data, a.d_hidden.bytes());
  if (active.index.empty()) return {};

  std::vector<LossRow> rows;
  for (const int32_t r : active.index)
    rows.push_back({a.target[r], a.advantage[r], a.weight[r], a.kl_weight ? a.kl_weight[r] : 0.f,
                    a.behaviour_logprob ? a.behaviour_logprob[r] : 0.f,
                    a.reference_logprob ? a.reference_logprob[r] : 0.f});
  const LossOptions options{a.clip_low,
                            a.clip_high,
                            a.dual_clip,
                            a.kl_coefficient,
                            a.kl,
                            a.behaviour_logprob != nullptr,
                            a.reference_logprob != nullptr};
  Context::Scratch scratch(context);
  const Head head = make_head(context, scratch, engine, a.hidden, a.lm_head, a.lm_head_packed, a.temperature);
  LossPass pass(context, scratch, head, options, rows, active.index);
  const auto count = static_cast<int64_t>(active.index.size());
  pass.run(0, active.trained, a.d_hidden, a.d_lm_head);
  pass.run(active.trained, count, {}, {});

  PolicyLossResult result;
  const std::vector<RowResult> results = pass.results();
  for (int64_t i = 0; i < count; i++) {
    const RowResult& row = results[static_cast<size_t>(i)];
    const int32_t r = active.index[static_cast<size_t>(i)];
    if (a.logprob) a.logprob[r] = row.logprob;
    if (a.entropy) a.entropy[r] = row.entropy;
    if (a.clipped) a.clipped[r] = row.clipped;
    result.loss += row.loss;
    result.kl_loss += row.kl_loss;
  }
  if (a.kl_coefficient != 0.f) result.loss += a.kl_coefficient * result.kl_loss;
  return result;
}

void token_logprob(Context& context, const ProductEngine& engine, float* logprob, float* entropy,
                   Tensor hidden, Tensor lm_head, const void* packed, const int32_t* target,
                   float temperature) {
  const int64_t R = hidden.shape[0];
  if (R == 0) return;
  std::vector<LossRow> rows;
  std::vector<int32_t> index;
  for (int64_t r = 0; r < R; r++) {
    check_target(target, r, lm_head.shape[0]);
    rows.push_back({target[r], 0.f, 0.f, 0.f, 0.f, 0.f});
    index.push_back(static_cast<int32_t>(r));
  }
  Context::Scratch scratch(context);
  const Head head = make_head(context, scratch, engine, hidden, lm_head, packed, temperature);
  LossPass pass(context, scratch, head, {0.f, 0.f, 0.f, 0.f, KlEstimator::k3, false, false}, rows, index);
  pass.run(0, R, {}, {});
  const std::vector<RowResult> results = pass.results();
  for (int64_t r = 0; r < R; r++) {
    logprob[r] = results[static_cast<size_t>(r)].logprob;
    if (entropy) entropy[r] = results[static_cast<size_t>(r)].entropy;
  }
}

}  // namespace skillgate::cuda
