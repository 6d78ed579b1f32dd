// LM head, policy-gradient loss and their gradients, by chunks of rows. The rows that take part are compacted
// on the device. Per chunk: logits, the row kernel, then the two backward products over the rows whose slope
// is not 0. The chunks depend on the shapes and on how many rows take part. The host waits for nothing: what
// the rows say lands in pinned memory.
#include <algorithm>
#include <vector>

#include "cuda/compact_rows.cuh"
#include "cuda/loss_rows.cuh"
#include "cuda/ops.h"

namespace skillgate::cuda {
namespace {

constexpr int64_t kLogitBytes = int64_t{1280} << 20, kMostRows = 4096;

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
  // fields: host memory, R rows.
  LossPass(Context& context, Context::Scratch& scratch, const Head& head, const LossOptions& options,
           const RowFields& fields, int64_t R, const RowCounts& counts)
      : context_(context),
        head_(head),
        options_(options),
        plan_(RowPlan::make(context.device(), head.V)),
        stride_(round_up<int64_t>(head.V, 4)),
        count_(counts.all),
        chunk_(std::min(count_, rows_a_chunk(stride_))),
        rows_(scratch.take<LossRow>(count_)),
        index_(scratch.take<int32_t>(count_)),
        results_(scratch.take<RowResult>(count_)),
        logits_(scratch.take<float>(chunk_ * stride_)) {
    if (head.engine.bf16) hidden_bf16_ = scratch.take<bf16>(chunk_ * bf16_stride(head.D));
    context.launch("pick_rows", pick_rows_kernel, dim3(1), kCompactThreads, 0, rows_, index_,
                   fields.on_device(scratch, R), R, counts);
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

  // To pinned memory for count_ of each: there once the host has waited.
  void start_download(RowResult* results, int32_t* index) {
    const auto n = static_cast<size_t>(count_);
    context_.start_download(results, results_, n * sizeof(RowResult));
    context_.start_download(index, index_, n * sizeof(int32_t));
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
  LossRow* rows_;
  int32_t* index_;
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

}  // namespace

int64_t policy_loss_bytes(const ProductEngine& engine, int64_t R, int64_t D, int64_t V) {
  const int64_t stride = round_up<int64_t>(V, 4), chunk = std::min(R, rows_a_chunk(stride));
  const auto bytes = [](int64_t count, size_t size) { return count * static_cast<int64_t>(size); };
  int64_t total = bytes(R, sizeof(LossRow) + sizeof(RowResult) + sizeof(int32_t)) +
                  bytes(R * RowFields::kFields, sizeof(float)) + bytes(chunk * stride, sizeof(float));
  if (engine.bf16) total += bytes(chunk * bf16_stride(D), sizeof(bf16));
  // cuBLASLt's rows of d_hidden, or the compacted rows' places.
  total += engine.bf16 && engine.cublaslt ? bytes(chunk * D, sizeof(float))
                                          : bytes(2 * chunk + 1, sizeof(int32_t));
  return total;
}

RowResult* LandedLoss::results() const {
  return reinterpret_cast<RowResult*>(memory.data());
}
int32_t* LandedLoss::index() const {
  return reinterpret_cast<int32_t*>(results() + rows);
}

void start_policy_loss(Context& context, const ProductEngine& engine, LandedLoss& landed,
                       const PolicyLossArgs& a) {
  const int64_t R = a.hidden.shape[0];
  const bool kl = a.reference_logprob && a.kl_coefficient != 0.f;
  const RowFields fields{
      a.target, a.advantage, a.weight, a.kl_weight, a.behaviour_logprob, a.reference_logprob, kl};
  const RowCounts counts = count_rows(fields, R, a.lm_head.shape[0]);
  landed.rows = 0;
  if (a.d_hidden) context.zero(a.d_hidden.data, a.d_hidden.bytes());
  if (counts.all == 0) return;

  const LossOptions options{a.clip_low,
                            a.clip_high,
                            a.dual_clip,
                            a.kl_coefficient,
                            a.kl,
                            a.behaviour_logprob != nullptr,
                            a.reference_logprob != nullptr};
  Context::Scratch scratch(context);
  const Head head = make_head(context, scratch, engine, a.hidden, a.lm_head, a.lm_head_packed, a.temperature);
  LossPass pass(context, scratch, head, options, fields, R, counts);
  pass.run(0, counts.trained, a.d_hidden, a.d_lm_head);
  pass.run(counts.trained, counts.all, {}, {});
  context.reserve(landed.memory, static_cast<size_t>(counts.all) * (sizeof(RowResult) + sizeof(int32_t)));
  landed.rows = counts.all;
  pass.start_download(landed.results(), landed.index());
}

PolicyLossResult finish_policy_loss(Context& context, const LandedLoss& landed, const PolicyLossArgs& a) {
  const int64_t R = a.hidden.shape[0];
  if (a.logprob) std::fill_n(a.logprob, R, 0.f);
  if (a.entropy) std::fill_n(a.entropy, R, 0.f);
  if (a.clipped) std::fill_n(a.clipped, R, uint8_t{0});
  PolicyLossResult result;
  if (landed.rows == 0) return result;
  context.synchronize();
  for (int64_t i = 0; i < landed.rows; i++) {
    const RowResult& row = landed.results()[i];
    const int32_t r = landed.index()[i];
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
  const RowFields fields{target, nullptr, nullptr, nullptr, nullptr, nullptr, false};
  const RowCounts counts = count_rows(fields, R, lm_head.shape[0]);
  Context::Scratch scratch(context);
  const Head head = make_head(context, scratch, engine, hidden, lm_head, packed, temperature);
  LossPass pass(context, scratch, head, {0.f, 0.f, 0.f, 0.f, KlEstimator::k3, false, false}, fields, R,
                counts);
  pass.run(0, R, {}, {});
  const std::vector<RowResult> results = pass.results();
  for (int64_t r = 0; r < R; r++) {
    logprob[r] = results[static_cast<size_t>(r)].logprob;
    if (entropy) entropy[r] = results[static_cast<size_t>(r)].entropy;
  }
}

}  // namespace skillgate::cuda
