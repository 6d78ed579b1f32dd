#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "backend/status.h"
#include "cuda/cublaslt.h"
#include "cuda/loss_rows.cuh"
#include "cuda/ops.h"
#include "gpu_bench.h"
#include "io/json.h"
#include "rounds.h"

namespace skillgate::bench {
namespace {

using namespace skillgate::cuda;

// Numbers in -scale .. scale that depend on the place alone.
__global__ void fill_kernel(float* x, int64_t n, float scale, uint32_t seed) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += int64_t{gridDim.x} * blockDim.x) {
    uint32_t h = (static_cast<uint32_t>(i) ^ seed) * 0x9E3779B1u;
    h = (h ^ h >> 15) * 0x85EBCA77u;
    x[i] = scale * (static_cast<float>((h ^ h >> 13) >> 8) * 0x1p-23f - 1.f);
  }
}

class Bench {
 public:
  Bench(int64_t T, int64_t D, int64_t V) : T_(T), D_(D), V_(V), stride_(round_up<int64_t>(V, 4)) {
    std::string why_not;
    cublaslt_ = CublasLt::open("", &why_not);
    if (cublaslt_ && !check_cublaslt(context_, *cublaslt_).empty()) cublaslt_.reset();
    engine_.bf16 = true;
    engine_.cublaslt = cublaslt_.get();
    hidden_ = filled(T * D, 1.f, 1);
    head_ = filled(V * D, 3.f / std::sqrt(static_cast<float>(D)), 2);
    hidden_bf16_ = rounded(hidden_, T, D);
    head_bf16_ = rounded(head_, V, D);
    d_hidden_ = filled(T * D, 0.f, 3);
    d_head_ = filled(V * D, 0.f, 4);
    chunk_ = std::min(T, std::max<int64_t>(1, (int64_t{1280} << 20) / (4 * stride_)));
    logits_ = filled(chunk_ * stride_, 2.f, 5);
    source_ = filled(chunk_ * stride_, 2.f, 6);
    d_logits_ = rounded(source_, chunk_, stride_);
    for (int64_t r = 0; r < T; r++) {
      target_.push_back(static_cast<int32_t>(r * 7919 % V));
      advantage_.push_back(r % 2 ? 1.f : -1.f);
      rows_.push_back({target_.back(), advantage_.back(), 1.f / T, 1.f / T, -8.f, -8.f});
    }
    weight_.assign(static_cast<size_t>(T), 1.f / static_cast<float>(T));
    behaviour_.assign(static_cast<size_t>(T), -8.f);
    device_rows_ = static_cast<LossRow*>(take(static_cast<size_t>(T) * sizeof(LossRow)));
    context_.upload(device_rows_, rows_.data(), rows_.size() * sizeof(LossRow));
    results_ = static_cast<RowResult*>(take(static_cast<size_t>(T) * sizeof(RowResult)));
  }
  ~Bench() {
    for (void* p : taken_) context_.release(p);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::string device() const { return context_.device().name; }
  std::string products() const { return cublaslt_ ? "cuBLASLt " + cublaslt_->version() : "built-in"; }
  void wait() { context_.synchronize(); }
  int64_t chunk() const { return chunk_; }

  // The least that any implementation does with these products: no loss, no conversion, gradients of logits that are there.
  void triple() {
    for (int64_t at = 0; at < T_; at += chunk_) {
      const int64_t n = std::min(chunk_, T_ - at);
      const Operand<bf16> hidden{hidden_bf16_ + at * bf16_stride(D_), bf16_stride(D_), true, nullptr};
      const Operand<bf16> head{head_bf16_, bf16_stride(D_), true, nullptr};
      const Operand<bf16> d_logits{d_logits_, bf16_stride(stride_), true, nullptr};
      multiply(product(n, V_, D_, hidden, head, logits_, stride_));
      multiply(product(n, D_, V_, d_logits, across(head), d_hidden_ + at * D_, D_));
      Product<bf16> last = product(V_, D_, n, across(d_logits), across(hidden), d_head_, D_);
      last.accumulate = true;
      multiply(last);
    }
  }

  void update() {
    PolicyLossArgs a;
    a.hidden = Tensor(hidden_, DType::f32, {T_, D_});
    a.lm_head = Tensor(head_, DType::f32, {V_, D_});
    a.lm_head_packed = head_bf16_;
    a.target = target_.data();
    a.advantage = advantage_.data();
    a.weight = a.kl_weight = weight_.data();
    a.behaviour_logprob = a.reference_logprob = behaviour_.data();
    a.kl_coefficient = 0.01f;
    a.d_hidden = Tensor(d_hidden_, DType::f32, {T_, D_});
    a.d_lm_head = Tensor(d_head_, DType::f32, {V_, D_});
    start_policy_loss(context_, engine_, landed_, a);
  }

  // One chunk's logits as the products leave them.
  void fill_logits() {
    context_.copy(logits_, source_, static_cast<size_t>(chunk_ * stride_) * sizeof(float));
  }
  double copied_bytes() const { return 2.0 * static_cast<double>(chunk_ * stride_) * sizeof(float); }

  void row_kernel() {
    const RowPlan plan = RowPlan::make(context_.device(), V_);
    const LossOptions options{0.2f, 0.28f, 0.f, 0.01f, KlEstimator::k3, true, true};
    const LossRowsArgs args{plan, logits_, stride_, device_rows_, results_, options, 1.f, true, true};
    context_.launch_cluster("loss_rows", loss_rows_kernel<bf16>, plan.cluster,
                            dim3(static_cast<unsigned>(chunk_ * plan.cluster)),
                            static_cast<unsigned>(plan.threads), plan.shared_bytes(), args);
  }
  // fp32 logits read once, bf16 gradients written once.
  double row_kernel_bytes() const {
    return static_cast<double>(chunk_ * V_) * (sizeof(float) + sizeof(bf16));
  }

 private:
  static Operand<bf16> across(Operand<bf16> o) {
    o.k_contiguous = false;
    return o;
  }
  static Product<bf16> product(int64_t M, int64_t N, int64_t K, const Operand<bf16>& left,
                               const Operand<bf16>& right, float* out, int64_t stride) {
    Product<bf16> p;
    p.M = M;
    p.N = N;
    p.K = K;
    p.left = left;
    p.right = right;
    p.out = out;
    p.out_stride = stride;
    return p;
  }
  void multiply(const Product<bf16>& p) { skillgate::cuda::multiply(context_, engine_, p); }

  void* take(size_t bytes) {
    taken_.push_back(context_.allocate(bytes));
    return taken_.back();
  }
  float* filled(int64_t n, float scale, uint32_t seed) {
    auto* x = static_cast<float*>(take(static_cast<size_t>(n) * sizeof(float)));
    const auto blocks = static_cast<unsigned>(std::min<int64_t>(ceil_div<int64_t>(n, 256), 4096));
    context_.launch("fill", fill_kernel, dim3(blocks), 256, 0, x, n, scale, seed);
    return x;
  }
  bf16* rounded(const float* x, int64_t rows, int64_t columns) {
    auto* to = static_cast<bf16*>(take(static_cast<size_t>(rows * bf16_stride(columns)) * sizeof(bf16)));
    convert_rows(context_, to, x, rows, columns);
    return to;
  }

  LandedLoss landed_;
  Context context_;
  std::unique_ptr<CublasLt> cublaslt_;
  ProductEngine engine_;
  std::vector<void*> taken_;
  const int64_t T_, D_, V_, stride_;
  int64_t chunk_ = 0;
  float *hidden_, *head_, *d_hidden_, *d_head_, *logits_, *source_;
  bf16 *hidden_bf16_, *head_bf16_, *d_logits_;
  std::vector<int32_t> target_;
  std::vector<float> advantage_, weight_, behaviour_;
  std::vector<LossRow> rows_;
  LossRow* device_rows_;
  RowResult* results_;
};

}  // namespace

void measure_policy_loss(int64_t T, int64_t D, int64_t V, int rounds) {
  if (T < 1 || D < 8 || V < 8 || D % 8 != 0 || V % 8 != 0 || rounds < 1)
    throw Failure("ERR_BENCH", "policy_loss: expected T and rounds of at least 1, D and V that 8 divides");
  Bench b(T, D, V);
  const auto wait = [&] { b.wait(); };
  const auto times = race({{nullptr, [&] { b.triple(); }},
                           {nullptr, [&] { b.update(); }},
                           {[&] { b.fill_logits(); }, [&] { b.row_kernel(); }},
                           {nullptr, [&] { b.fill_logits(); }}},
                          rounds, wait);
  const double flop = 6.0 * static_cast<double>(T) * static_cast<double>(D) * static_cast<double>(V);
  const double row_bandwidth = b.row_kernel_bytes() / median(times[2]);
  const double copy_bandwidth = b.copied_bytes() / median(times[3]);
  std::printf(
      "{\"device\": %s, \"products\": %s, \"T\": %lld, \"D\": %lld, \"V\": %lld, \"rounds\": %d, "
      "\"tripleSeconds\": %.6g, \"updateSeconds\": %.6g, \"tripleOverUpdate\": %.4f, \"updateFlops\": %.6g, "
      "\"chunkRows\": %lld, \"rowKernelBytesPerSecond\": %.6g, \"copyBytesPerSecond\": %.6g, "
      "\"rowKernelOverCopy\": %.4f}\n",
      Json::of(b.device()).dump().c_str(), Json::of(b.products()).dump().c_str(), static_cast<long long>(T),
      static_cast<long long>(D), static_cast<long long>(V), rounds, median(times[0]), median(times[1]),
      median_ratio(times[0], times[1]), flop / median(times[1]), static_cast<long long>(b.chunk()),
      row_bandwidth, copy_bandwidth,
      median_ratio(times[3], times[2]) * b.row_kernel_bytes() / b.copied_bytes());
}

}  // namespace skillgate::bench
