// One trainable language model: weights, gradients, optimizer, generation. Synchronous and single-threaded
// from the outside: one caller at a time (binding/ gives each policy a thread of its own).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "model/generate.h"
#include "model/model_config.h"

namespace skillgate {

struct PolicyOptions {
  std::string device = "cpu";
  BackendOptions backend;
  bool trainable = true;  // false: no gradients and no optimizer state; accumulate and step are errors
  // Recompute each layer's activations in the backward pass instead of keeping them; false: only where they
  // do not fit. Every result is the same, bit for bit.
  bool recompute = false;
  int64_t memory_limit = 0;  // bytes the policy may hold; 0: what the device has free
  // What forward products read: f32, or bf16 for half of the memory traffic. A trainable policy reads bf16 in
  // generation only: what it samples then differs a little from what it is trained as.
  DType weights = DType::f32;
  bool share_prefixes = true;  // compute the common prefix of neighbouring sequences once
  int64_t prefill_chunk = 512;
};

struct Sequences {
  const int32_t* tokens = nullptr;  // [T], all sequences one after the other
  int64_t token_count = 0;
  const int32_t* offsets = nullptr;  // [S + 1], offsets[0] = 0, offsets[S] = T, strictly increasing
  int64_t sequence_count = 0;
};

// Entry t of every field belongs to token t as predicted from the tokens before it in its own sequence; the
// first token of a sequence has no prediction: its outputs are 0, and a weight there is a Failure
// ERR_FIRST_TOKEN_WEIGHT.
struct AccumulateArgs {
  Sequences sequences;
  const float* advantage = nullptr;          // [T]
  const float* weight = nullptr;             // [T]
  const float* kl_weight = nullptr;          // [T] or null: 0
  const float* behaviour_logprob = nullptr;  // [T] or null: ratio 1
  const float* reference_logprob = nullptr;  // [T] or null: no kl
  float temperature = 1.f, clip_low = 0.2f, clip_high = 0.28f, dual_clip = 0.f;
  KlEstimator kl = KlEstimator::k3;
  float kl_coefficient = 0.f;
  float* logprob = nullptr;    // [T] out; 0 where both weights are 0
  float* entropy = nullptr;    // [T] out or null
  uint8_t* clipped = nullptr;  // [T] out
};

struct StepOptions {
  float learning_rate = 1e-6f, beta1 = 0.9f, beta2 = 0.98f, eps = 1e-8f, weight_decay = 0.1f;
  float max_grad_norm = 1.f;  // 0: no clipping
};

struct StepResult {
  double grad_norm = 0;
  bool skipped =
      false;  // non-finite norm: weights, moments and step count are as before; gradients are cleared
};

struct ParameterInfo {
  std::string name;  // Hugging Face tensor name
  std::vector<int64_t> shape;
};

class Policy {
 public:
  // dir: a Hugging Face folder. Failure: ERR_MODEL_CONFIG, ERR_SAFETENSORS, ERR_MISSING_TENSOR,
  // ERR_OUT_OF_MEMORY, ...
  static std::unique_ptr<Policy> load(const std::string& dir, const PolicyOptions& options);
  ~Policy();

  const ModelConfig& config() const;
  const PolicyOptions& options() const;
  std::string device_description() const;
  int64_t resident_bytes() const;   // weights, gradients, moments, packed copies, activations, caches
  int64_t flop() const;             // of all matrix products so far
  int64_t optimizer_steps() const;  // steps taken, restored by load_optimizer

  // logprobs and accumulate plan their memory before they run: Failure ERR_OUT_OF_MEMORY says what is needed
  // and what lowers it. `stop` is looked at between layers: Failure ERR_ABORTED. An aborted accumulate leaves gradients that only
  // zero_gradients makes sense of.
  // logprobs: of the tokens alone where `wanted` [T] is not 0, if given; 0 elsewhere.
  void logprobs(const Sequences& sequences, float temperature, float* logprob, float* entropy,
                const std::atomic<bool>* stop = nullptr, const uint8_t* wanted = nullptr);
  // out [T, V], for tests and inspection.
  void logits(const Sequences& sequences, float* out, const std::atomic<bool>* stop = nullptr);
  PolicyLossResult accumulate(const AccumulateArgs& args, const std::atomic<bool>* stop = nullptr);
  StepResult step(const StepOptions& options);
  void zero_gradients();

  std::vector<ParameterInfo> parameters() const;
  void read_parameter(const std::string& name, float* out) const;  // Failure ERR_UNKNOWN_PARAMETER
  void read_gradient(const std::string& name, float* out) const;
  void write_parameter(const std::string& name, const float* values);

  // config.json (and the other files of the folder it was loaded from) + model.safetensors, written aside and
  // renamed.
  void save(const std::string& dir) const;
  void save_optimizer(const std::string& file) const;
  void load_optimizer(const std::string& file);

  // Brings the packed weights up to date; call it again after step, load_optimizer or write_parameter.
  Generator& generator();

 private:
  int index_of(const std::string& name) const;
  struct State;
  explicit Policy(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace skillgate
