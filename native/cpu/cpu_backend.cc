#include "cpu/cpu_backend.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "backend/status.h"
#include "cpu/adamw.h"
#include "cpu/attention.h"
#include "cpu/context.h"
#include "cpu/cores.h"
#include "cpu/grad_norm.h"
#include "cpu/matmul.h"
#include "cpu/memory.h"
#include "cpu/policy_loss.h"
#include "cpu/rmsnorm.h"
#include "cpu/rope.h"
#include "cpu/rows.h"
#include "cpu/sampling.h"
#include "cpu/swiglu.h"
#include "cpu/token_mask.h"

namespace skillgate {
namespace {

constexpr int kMaxThreads = 1024;

int choose_threads(int wanted) {
  if (wanted < 0 || wanted > kMaxThreads) {
    throw Failure("ERR_INVALID_OPTION", "expected threads of 0 (all cores) .. " +
                                            std::to_string(kMaxThreads) + ", got " + std::to_string(wanted));
  }
  if (wanted > 0) return wanted;
  return usable_cores();
}

AttentionShape attention_shape(const Tensor& q, const Tensor& k, float scale) {
  return {q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[0], scale};
}

int64_t row_floats(const Tensor& x) {
  return x.shape[1] * x.shape[2] * x.shape[3];
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : context_(choose_instruction_set(options.instruction_set), choose_threads(options.threads)) {}

  const char* name() const override { return "cpu"; }
  std::string description() const override {
    const int threads = context_.pool.threads();
    return std::string(instruction_set_name(context_.kernels.set)) + ", " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
  }

  void* allocate(size_t bytes) override { return allocate_aligned(bytes); }
  void release(void* p) override { release_aligned(p); }
  void upload(void* device, const void* host, size_t bytes) override { copy(device, host, bytes); }
  void download(void* host, const void* device, size_t bytes) override { copy(host, device, bytes); }
  void copy(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memmove(to, from, bytes);
  }
  void zero(void* p, size_t bytes) override {
    if (bytes > 0) std::memset(p, 0, bytes);
  }
  void synchronize() override {}
  int64_t free_bytes() const override { return available_memory(); }
  int64_t flop() const override { return context_.flop; }

  void embedding_forward(Tensor y, Tensor table, Tensor tokens) override {
    skillgate::gather_rows(context_, y.f32(), table.f32(), tokens.i32(), tokens.count(), row_floats(table));
  }
  void embedding_backward(Tensor dtable, Tensor dy, Tensor tokens) override {
    skillgate::scatter_add_rows(context_, dtable.f32(), dy.f32(), tokens.i32(), tokens.count(),
                                row_floats(dtable));
  }

  void rmsnorm_forward(Tensor y, Tensor rstd, Tensor x, Tensor w, float eps) override {
    skillgate::rmsnorm_forward(context_, y.f32(), rstd.f32(), x.f32(), w.f32(), x.count() / w.count(),
                               w.count(), eps);
  }
  void rmsnorm_backward(Tensor dx, Tensor dw, Tensor dy, Tensor x, Tensor w, Tensor rstd,
                        bool accumulate) override {
    skillgate::rmsnorm_backward(context_, dx.f32(), dw.f32(), dy.f32(), x.f32(), w.f32(), rstd.f32(),
                                x.count() / w.count(), w.count(), accumulate);
  }

  size_t packed_bytes(int64_t N, int64_t K, DType type) const override {
    return packed_weight_bytes(context_.kernels, N, K, type);
  }
  void pack(void* packed, Tensor w, DType type) override {
    pack_weights(context_, packed, w.f32(), w.shape[0], w.shape[1], type);
  }
  void linear_forward(Tensor y, Tensor x, Tensor w, const void* packed, Tensor bias) override {
    skillgate::linear_forward(context_, y.f32(), x.f32(), w.f32(), packed, bias.f32(), x.count() / w.shape[1],
                              w.shape[0], w.shape[1]);
  }
  void linear_backward_input(Tensor dx, Tensor dy, Tensor w, const void*, bool accumulate) override {
    skillgate::linear_backward_input(context_, dx.f32(), dy.f32(), w.f32(), dy.count() / w.shape[0],
                                     w.shape[0], w.shape[1], accumulate);
  }
  void linear_backward_weight(Tensor dw, Tensor dbias, Tensor dy, Tensor x) override {
    skillgate::linear_backward_weight(context_, dw.f32(), dbias.f32(), dy.f32(), x.f32(),
                                      x.count() / dw.shape[1], dw.shape[0], dw.shape[1]);
  }

  void rope(Tensor x, Tensor cosine, Tensor sine, Tensor positions, bool inverse) override {
    skillgate::rope(context_, x.f32(), cosine.f32(), sine.f32(), positions.i32(), x.shape[0], x.shape[1],
                    x.shape[2], inverse);
  }

  void attention_forward(Tensor o, Tensor lse, Tensor q, Tensor k, Tensor v, const AttentionSpans& spans,
                         float scale) override {
    skillgate::attention_forward(context_, o.f32(), lse.f32(), q.f32(), k.f32(), v.f32(), spans,
                                 attention_shape(q, k, scale));
  }
  void attention_backward(Tensor dq, Tensor dk, Tensor dv, Tensor d_o, Tensor o, Tensor lse, Tensor q,
                          Tensor k, Tensor v, const AttentionSpans& spans, float scale) override {
    skillgate::attention_backward(context_, dq.f32(), dk.f32(), dv.f32(), d_o.f32(), o.f32(), lse.f32(),
                                  q.f32(), k.f32(), v.f32(), spans, attention_shape(q, k, scale));
  }

  void swiglu_forward(Tensor y, Tensor gate, Tensor up) override {
    skillgate::swiglu_forward(context_, y.f32(), gate.f32(), up.f32(), y.count());
  }
  void swiglu_backward(Tensor dgate, Tensor dup, Tensor dy, Tensor gate, Tensor up) override {
    skillgate::swiglu_backward(context_, dgate.f32(), dup.f32(), dy.f32(), gate.f32(), up.f32(), dy.count());
  }

  void add(Tensor y, Tensor x) override { skillgate::add(context_, y.f32(), x.f32(), y.count()); }

  void gather_rows(Tensor y, Tensor x, Tensor index) override {
    skillgate::gather_rows(context_, y.f32(), x.f32(), index.i32(), index.count(), row_floats(x));
  }
  void scatter_rows(Tensor y, Tensor x, Tensor index) override {
    skillgate::scatter_rows(context_, y.f32(), x.f32(), index.i32(), index.count(), row_floats(x));
  }
  void scatter_add_rows(Tensor dx, Tensor dy, Tensor index) override {
    skillgate::scatter_add_rows(context_, dx.f32(), dy.f32(), index.i32(), index.count(), row_floats(dy));
  }

  int64_t token_mask(const TokenMaskArgs& args) override { return skillgate::token_mask(args); }

  void start_policy_loss(const PolicyLossArgs& args) override {
    loss_result_ = skillgate::policy_loss(context_, args);
  }
  PolicyLossResult finish_policy_loss(const PolicyLossArgs&) override { return loss_result_; }
  int64_t policy_loss_bytes(int64_t R, int64_t D, int64_t V) const override {
    const auto held = static_cast<int64_t>(context_.loss_scratch.bytes());
    return std::max<int64_t>(0, skillgate::policy_loss_bytes(R, D, V) - held);
  }

  void token_logprob(float* logprob, float* entropy, Tensor hidden, Tensor lm_head, const void* packed,
                     const int32_t* target, float temperature) override {
    skillgate::token_logprob(context_, logprob, entropy, hidden, lm_head, packed, target, temperature);
  }

  void sample(int32_t* token, float* logprob, Tensor logits, const SampleOptions* options) override {
    skillgate::sample(context_, token, logprob, logits.f32(), options, logits.shape[0], logits.shape[1]);
  }

  void sum_of_squares(Tensor sum, Tensor x) override {
    *sum.f64() = skillgate::sum_of_squares(context_, x.f32(), x.count());
  }

  void adamw(Tensor w, Tensor grad, Tensor m, Tensor v, Tensor sum_of_squares,
             const AdamWOptions& options) override {
    skillgate::adamw(context_, w.f32(), grad.f32(), m.f32(), v.f32(), w.count(), sum_of_squares.f64(),
                     options);
  }

 private:
  CpuContext context_;
  PolicyLossResult loss_result_;  // of the latest start_policy_loss
};

}  // namespace

std::unique_ptr<Backend> open_cpu_backend(const BackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace skillgate
