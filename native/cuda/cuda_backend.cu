// The CUDA device behind backend/backend.h.
#include <algorithm>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "backend/status.h"
#include "cuda/attention.h"
#include "cuda/cublaslt.h"
#include "cuda/ops.h"

namespace skillgate {
namespace cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const BackendOptions& options) : plan_(context_) {
    if (!options.precision.empty() && options.precision != "bf16" && options.precision != "fp32")
      throw Failure("ERR_INVALID_OPTION",
                    "expected precision \"bf16\" or \"fp32\", got \"" + options.precision + "\"");
    engine_.bf16 = options.precision != "fp32";
    open_products(options.cublaslt);
  }

  const char* name() const override { return "cuda"; }
  std::string description() const override {
    const DeviceInfo& d = context_.device();
    return d.name + " (sm_" + std::to_string(d.major) + std::to_string(d.minor) + "), " +
           (engine_.bf16 ? "bf16" : "fp32") + ", products: " + products_;
  }

  void* allocate(size_t bytes) override { return context_.allocate(bytes); }
  void release(void* p) override { context_.release(p); }
  void upload(void* device, const void* host, size_t bytes) override { context_.upload(device, host, bytes); }
  void download(void* host, const void* device, size_t bytes) override {
    context_.download(host, device, bytes);
  }
  void copy(void* to, const void* from, size_t bytes) override { context_.copy(to, from, bytes); }
  void zero(void* p, size_t bytes) override { context_.zero(p, bytes); }
  void synchronize() override { context_.synchronize(); }
  int64_t free_bytes() const override { return static_cast<int64_t>(context_.free_bytes()); }

  void embedding_forward(Tensor y, Tensor table, Tensor tokens) override {
    cuda::gather_rows(context_, y, table, tokens);
  }
  void embedding_backward(Tensor dtable, Tensor dy, Tensor tokens) override {
    cuda::scatter_add_rows(context_, dtable, dy, tokens);
  }

  void rmsnorm_forward(Tensor y, Tensor rstd, Tensor x, Tensor w, float eps) override {
    cuda::rmsnorm_forward(context_, y, rstd, x, w, eps);
  }
  void rmsnorm_backward(Tensor dx, Tensor dw, Tensor dy, Tensor x, Tensor w, Tensor rstd,
                        bool accumulate) override {
    cuda::rmsnorm_backward(context_, dx, dw, dy, x, w, rstd, accumulate);
  }

  size_t packed_bytes(int64_t N, int64_t K, DType) const override {
    return engine_.bf16 ? static_cast<size_t>(N * bf16_stride(K)) * sizeof(bf16) : 0;
  }
  void pack(void* packed, Tensor w, DType) override {
    if (engine_.bf16) convert_rows(context_, static_cast<bf16*>(packed), w.f32(), w.shape[0], w.shape[1]);
  }
  void linear_forward(Tensor y, Tensor x, Tensor w, const void* packed, Tensor bias) override {
    cuda::linear_forward(context_, engine_, y, x, w, packed, bias);
  }
  void linear_backward_input(Tensor dx, Tensor dy, Tensor w, const void* packed, bool accumulate) override {
    cuda::linear_backward_input(context_, engine_, dx, dy, w, packed, accumulate);
  }
  void linear_backward_weight(Tensor dw, Tensor dbias, Tensor dy, Tensor x) override {
    cuda::linear_backward_weight(context_, engine_, dw, dbias, dy, x);
  }

  void rope(Tensor x, Tensor cosine, Tensor sine, Tensor positions, bool inverse) override {
    cuda::rope(context_, x, cosine, sine, positions, inverse);
  }

  void attention_forward(Tensor o, Tensor lse, Tensor q, Tensor k, Tensor v, const AttentionSpans& spans,
                         float scale) override {
    cuda::attention_forward(context_, engine_, plan_, o, lse, q, k, v, spans, scale);
  }
  void attention_backward(Tensor dq, Tensor dk, Tensor dv, Tensor d_o, Tensor o, Tensor lse, Tensor q,
                          Tensor k, Tensor v, const AttentionSpans& spans, float scale) override {
    cuda::attention_backward(context_, engine_, plan_, dq, dk, dv, d_o, o, lse, q, k, v, spans, scale);
  }

  void swiglu_forward(Tensor y, Tensor gate, Tensor up) override {
    cuda::swiglu_forward(context_, y, gate, up);
  }
  void swiglu_backward(Tensor dgate, Tensor dup, Tensor dy, Tensor gate, Tensor up) override {
    cuda::swiglu_backward(context_, dgate, dup, dy, gate, up);
  }

  void add(Tensor y, Tensor x) override { cuda::add(context_, y, x); }
  void gather_rows(Tensor y, Tensor x, Tensor index) override { cuda::gather_rows(context_, y, x, index); }
  void scatter_rows(Tensor y, Tensor x, Tensor index) override { cuda::scatter_rows(context_, y, x, index); }
  void scatter_add_rows(Tensor dx, Tensor dy, Tensor index) override {
    cuda::scatter_add_rows(context_, dx, dy, index);
  }

  int64_t token_mask(const TokenMaskArgs& args) override { return cuda::token_mask(context_, args); }
  void start_policy_loss(const PolicyLossArgs& args) override {
    cuda::start_policy_loss(context_, engine_, landed_, args);
  }
  PolicyLossResult finish_policy_loss(const PolicyLossArgs& args) override {
    return cuda::finish_policy_loss(context_, landed_, args);
  }
  int64_t policy_loss_bytes(int64_t R, int64_t D, int64_t V) const override {
    const int64_t held = static_cast<int64_t>(context_.scratch_bytes());
    return std::max<int64_t>(0, cuda::policy_loss_bytes(engine_, R, D, V) - held);
  }
  void token_logprob(float* logprob, float* entropy, Tensor hidden, Tensor lm_head, const void* packed,
                     const int32_t* target, float temperature) override {
    cuda::token_logprob(context_, engine_, logprob, entropy, hidden, lm_head, packed, target, temperature);
  }
  void sample(int32_t* token, float* logprob, Tensor logits, const SampleOptions* options) override {
    cuda::sample(context_, token, logprob, logits, options);
  }

  void sum_of_squares(Tensor sum, Tensor x) override { cuda::sum_of_squares(context_, sum, x); }
  void adamw(Tensor w, Tensor grad, Tensor m, Tensor v, Tensor sum_of_squares,
             const AdamWOptions& options) override {
    cuda::adamw(context_, w, grad, m, v, sum_of_squares, options);
  }

 private:
  void open_products(const std::string& library) {
    products_ = "built-in";
    if (!engine_.bf16 || library == "off") return;
    std::string why_not;
    cublaslt_ = CublasLt::open(library, &why_not);
    if (cublaslt_) why_not = check_cublaslt(context_, *cublaslt_);
    if (why_not.empty()) {
      engine_.cublaslt = cublaslt_.get();
      products_ = "cuBLASLt " + cublaslt_->version() + " (" + cublaslt_->library() + ")";
    } else {
      cublaslt_.reset();
      products_ += " (no cuBLASLt: " + why_not + ")";
    }
  }

  LandedLoss landed_;        // outlives the context, whose end waits for the device
  mutable Context context_;  // asking what is free may find the device lost
  AttentionPlan plan_;
  std::unique_ptr<CublasLt> cublaslt_;
  ProductEngine engine_;
  std::string products_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Backend> open_cuda_backend(const BackendOptions& options) {
  return std::make_unique<cuda::CudaBackend>(options);
}

}  // namespace skillgate
