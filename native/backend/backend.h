// What a device must offer: memory and one table of ops. Knows no device.
//
// Symbols, used everywhere:
//   T  token rows of a call        D   model width            F  feed-forward width
//   H  query heads                 G   key/value heads        E  width of one head
//   V  vocabulary                  R   rows that carry loss   N, K  outputs and inputs of a linear layer
//   d<name>  gradient of <name>    +=  the op adds to what is there; every other output is overwritten
//
// Exactness. A row of any forward op depends only on that row's inputs, never on how many rows the call has,
// where the row stands, or the number of threads: every reduction has one fixed order. So a token has the
// same logprob bit for bit when it is trained, scored, or decoded one by one through a cache. Backward ops
// are bitwise equal at any number of threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/tensor.h"

namespace skillgate {

// Which key/value rows each query row may see. Segment s owns query rows segment_offsets[s] ..
// segment_offsets[s+1]. Its keys, in position order, are the runs span_row[j], span_count[j] for j in
// span_offsets[s] .. span_offsets[s+1]: rows of the key/value tensors. With n queries and L keys in all,
// query i sees keys 0 .. L-n+i (causal): the last n keys are the segment's own tokens. One form serves packed
// training sequences, sequences that share a prefix (the prefix rows are named by several segments), and
// decoding from cache pages.
struct AttentionSpans {
  int64_t segments = 0;
  const int64_t* segment_offsets = nullptr;  // segments + 1
  const int64_t* span_offsets = nullptr;     // segments + 1
  const int64_t* span_row = nullptr;
  const int64_t* span_count = nullptr;
};

enum class KlEstimator : uint8_t { k1, k2, k3 };

// loss = sum_r weight[r] * pg(advantage[r]) + kl_coefficient * sum_r kl_weight[r] * kl[r]
//   lp        = log softmax(hidden . lm_head^T / temperature)[target]
//   ratio     = exp(lp - behaviour_logprob), log-ratio clamped to +-20 before exp; 1 where behaviour is absent
//   pg(A)     = max(-ratio*A, -clip(ratio, 1-clip_low, 1+clip_high)*A); dual_clip c and A < 0: min(that, -c*A)
//   kl        = k1: lp-ref; k2: (lp-ref)^2/2; k3: exp(ref-lp)-(ref-lp)-1 clamped to [-10, 10], gradient 0 outside
// A row with weight 0 and kl_weight 0 is absent: none of its other fields is looked at, outputs there are 0.
// A row with weight 0 takes no part in pg, one with kl_weight 0 none in kl (its reference may be anything).
struct PolicyLossArgs {
  Tensor hidden;   // [R, D]
  Tensor lm_head;  // [V, D]
  const void* lm_head_packed = nullptr;
  const int32_t* target = nullptr;           // [R], host memory like all per-row fields below
  const float* advantage = nullptr;          // [R]
  const float* weight = nullptr;             // [R]
  const float* kl_weight = nullptr;          // [R]
  const float* behaviour_logprob = nullptr;  // [R] or null
  const float* reference_logprob = nullptr;  // [R] or null: no kl term
  float temperature = 1.f;
  float clip_low = 0.2f, clip_high = 0.28f;
  float dual_clip = 0.f;  // 0: off
  KlEstimator kl = KlEstimator::k3;
  float kl_coefficient = 0.f;
  float* logprob = nullptr;    // [R]
  float* entropy = nullptr;    // [R]
  uint8_t* clipped = nullptr;  // [R] 1 where the clipped branch was taken (gradient of pg is 0)
  Tensor d_hidden;             // [R, D], overwritten; null: forward only
  Tensor d_lm_head;            // [V, D] +=; null: not wanted
};

struct PolicyLossResult {
  double loss = 0, kl_loss = 0;  // kl_loss = sum kl_weight * kl, without the coefficient
};

// One sampled token a row. logprob is that of the full distribution at the row's temperature (before top-k,
// top-p, min-p), so that it equals token_logprob of the same token bit for bit. temperature 0: the arg max
// (lowest id on ties) and its logprob at temperature 1. The uniform number is a function of (seed, counter)
// alone.
struct SampleOptions {
  float temperature = 1.f, top_p = 1.f, min_p = 0.f;
  int32_t top_k = 0;  // 0: off
  uint64_t seed = 0, counter = 0;
};

// Advantages a trajectory and a read action -> one channel, advantage and absolute weights a token. B =
// number of generated tokens. Token t of sequence s, generated:
//   inside the call span of a read: channel 0, unless read_calls_included (then execution, identity tokens of
//     active reads excepted); inside the identity span of a read with advantage != 0: channel 2, that advantage,
//     weight = selector_coefficient / (active reads) / (generated identity tokens of the read)
//   else: channel 1, outcome_advantage[s], weight = 1 / (number of execution tokens)
//   kl_weight = 1 / B for every generated token
// A token inside two identity spans belongs to the earlier read. A read with advantage 0, or with no
// generated identity token of its own, is not active. All host memory.
struct TokenMaskArgs {
  int64_t tokens = 0, sequences = 0, reads = 0;
  const int32_t* sequence_offsets = nullptr;  // [sequences + 1]
  const uint8_t* generated = nullptr;         // [tokens]
  const float* outcome_advantage = nullptr;   // [sequences]
  const int32_t* call_start = nullptr;        // [reads], half-open token ranges
  const int32_t* call_end = nullptr;
  const int32_t* identity_start = nullptr;
  const int32_t* identity_end = nullptr;
  const float* read_advantage = nullptr;  // [reads]
  double selector_coefficient = 0;
  bool read_calls_included = false;
  uint8_t* channel = nullptr;  // [tokens], out, like the rest
  float* advantage = nullptr;
  float* weight = nullptr;
  float* kl_weight = nullptr;
};

struct AdamWOptions {
  float learning_rate = 1e-6f, beta1 = 0.9f, beta2 = 0.98f, eps = 1e-8f, weight_decay = 0.1f;
  float max_grad_norm = 0.f;  // of adamw's sum_of_squares; 0: the gradient is taken as it is
  int64_t step = 1;           // 1-based, for bias correction
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* name() const = 0;         // "cpu" or "cuda"
  virtual std::string description() const = 0;  // e.g. "avx512, 2 threads"

  // Memory of the device. allocate throws Failure("ERR_OUT_OF_MEMORY") and never returns null for bytes > 0;
  // new memory is not cleared. upload and download move bytes from and to host memory.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* p) = 0;
  virtual void upload(void* device, const void* host, size_t bytes) = 0;
  virtual void download(void* host, const void* device, size_t bytes) = 0;
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  virtual void zero(void* p, size_t bytes) = 0;
  virtual void synchronize() = 0;
  // Bytes the device can still give; the largest int64 where it cannot tell.
  virtual int64_t free_bytes() const { return INT64_MAX; }
  // Floating-point operations of the matrix products so far, two for a multiply-add; 0 where nobody counts.
  virtual int64_t flop() const { return 0; }

  // y[t,:] = table[tokens[t],:];  dtable[tokens[t],:] += dy[t,:] (rows in order of t)
  virtual void embedding_forward(Tensor y, Tensor table, Tensor tokens) = 0;
  virtual void embedding_backward(Tensor dtable, Tensor dy, Tensor tokens) = 0;

  // x [N, D], w [D], rstd [N]:  rstd = 1/sqrt(mean(x^2) + eps), y = x * rstd * w
  // dx += or = (accumulate);  dw +=
  virtual void rmsnorm_forward(Tensor y, Tensor rstd, Tensor x, Tensor w, float eps) = 0;
  virtual void rmsnorm_backward(Tensor dx, Tensor dw, Tensor dy, Tensor x, Tensor w, Tensor rstd,
                                bool accumulate) = 0;

  // Linear layer, w [N, K] as Hugging Face stores it, bias [N] or null. `packed` is the device's own form of
  // w for the forward product (packed_bytes may be 0: then it is null); whoever changes w calls pack again.
  // `type`: f32, or bf16 for weights rounded to it that take half of the memory and of the traffic (a device
  // whose precision says otherwise may keep its own).
  //   y [T, N] = x [T, K] . w^T + bias      dx [T, K] = (or +=) dy [T, N] . w      dw += dy^T . x, dbias +=
  //   sum_t dy
  virtual size_t packed_bytes(int64_t N, int64_t K, DType type = DType::f32) const = 0;
  virtual void pack(void* packed, Tensor w, DType type = DType::f32) = 0;
  virtual void linear_forward(Tensor y, Tensor x, Tensor w, const void* packed, Tensor bias) = 0;
  virtual void linear_backward_input(Tensor dx, Tensor dy, Tensor w, const void* packed, bool accumulate) = 0;
  virtual void linear_backward_weight(Tensor dw, Tensor dbias, Tensor dy, Tensor x) = 0;

  // Rotates pairs (x[t,h,i], x[t,h,i + E/2]) of x [T, heads, E] in place by the angle of positions[t]:
  // cosine, sine [positions, E/2]. inverse: by minus the angle (the backward pass).
  virtual void rope(Tensor x, Tensor cosine, Tensor sine, Tensor positions, bool inverse) = 0;

  // o [T, H, E] = softmax(scale * q . k^T) . v over the keys each query sees; query head h reads key/value
  // head h*G/H. q [T, H, E], k and v [rows, G, E], lse [T, H] = log sum exp of the scaled scores.
  // backward: dq is overwritten; dk and dv += .
  virtual void attention_forward(Tensor o, Tensor lse, Tensor q, Tensor k, Tensor v,
                                 const AttentionSpans& spans, float scale) = 0;
  virtual void attention_backward(Tensor dq, Tensor dk, Tensor dv, Tensor d_o, Tensor o, Tensor lse, Tensor q,
                                  Tensor k, Tensor v, const AttentionSpans& spans, float scale) = 0;

  // y = gate * sigmoid(gate) * up, all [T, F]
  virtual void swiglu_forward(Tensor y, Tensor gate, Tensor up) = 0;
  virtual void swiglu_backward(Tensor dgate, Tensor dup, Tensor dy, Tensor gate, Tensor up) = 0;

  virtual void add(Tensor y, Tensor x) = 0;  // y += x

  // y[r,:] = x[index[r],:];  dx[index[r],:] += dy[r,:] (rows in order of r; an index may come more than
  // once). scatter_rows: y[index[r],:] = x[r,:] (each index once). index [R] i32.
  virtual void gather_rows(Tensor y, Tensor x, Tensor index) = 0;
  virtual void scatter_rows(Tensor y, Tensor x, Tensor index) = 0;
  virtual void scatter_add_rows(Tensor dx, Tensor dy, Tensor index) = 0;

  virtual int64_t token_mask(const TokenMaskArgs& args) = 0;  // returns B

  // In two halves, so that a backward pass can be queued behind the first before the host waits for what the
  // rows say. The per-row fields have been read when start returns; logprob, entropy and clipped are there
  // when finish, with the same args, does. A start without its finish is forgotten by the next one.
  virtual void start_policy_loss(const PolicyLossArgs& args) = 0;
  virtual PolicyLossResult finish_policy_loss(const PolicyLossArgs& args) = 0;
  PolicyLossResult policy_loss(const PolicyLossArgs& args) {
    start_policy_loss(args);
    return finish_policy_loss(args);
  }
  // Working memory of policy_loss with gradients, beyond what the device holds for it already; 0 where it is
  // not known beforehand.
  virtual int64_t policy_loss_bytes(int64_t R, int64_t D, int64_t V) const {
    return (void)R, (void)D, (void)V, 0;
  }

  // logprob and entropy of target under softmax(hidden . lm_head^T / temperature), the first half of
  // policy_loss. hidden [R, D]; target, logprob, entropy: host memory [R]; entropy may be null.
  virtual void token_logprob(float* logprob, float* entropy, Tensor hidden, Tensor lm_head,
                             const void* packed, const int32_t* target, float temperature) = 0;

  // logits [R, V] (made by linear_forward with the LM head); options, token, logprob: host memory [R].
  virtual void sample(int32_t* token, float* logprob, Tensor logits, const SampleOptions* options) = 0;

  // sum [1] f64 = sum of squares of x; non-finite if any element is.
  virtual void sum_of_squares(Tensor sum, Tensor x) = 0;

  // m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; w = w - lr*wd*w - lr * (m/(1-b1^step)) / (sqrt(v/(1-b2^step))
  // + eps). w, grad, m, v of one shape, f32. sum_of_squares [1] f64 is that of the gradient, or null. Where
  // it is not finite nothing changes; norm = its root:
  //   g = grad * (max_grad_norm > 0 and norm > max_grad_norm ? max_grad_norm / (norm + 1e-6) : 1)
  virtual void adamw(Tensor w, Tensor grad, Tensor m, Tensor v, Tensor sum_of_squares,
                     const AdamWOptions& options) = 0;
};

struct BackendOptions {
  int threads = 0;              // 0: all cores
  std::string instruction_set;  // "", "avx512", "avx2", "portable"; "" picks the best this processor has
  std::string precision = "";   // cuda: "bf16" (also "") or "fp32", the operands of matrix products
  std::string cublaslt =
      "";  // cuda: a path to cuBLASLt, "" where the loader finds it, "off" for built-in products
};

// Opens "cpu" or "cuda"; throws Failure (ERR_NO_DEVICE, ERR_INVALID_OPTION) with the reason.
std::unique_ptr<Backend> open_backend(const std::string& device, const BackendOptions& options);

}  // namespace skillgate
