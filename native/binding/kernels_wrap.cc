#include "binding/kernels_wrap.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "binding/checks.h"
#include "binding/device_array.h"
#include "binding/loss_fields.h"

namespace skillgate {

// The backend that was asked for last; the next one that is opened in another way replaces it.
class LatestBackend : public Host {
 public:
  Backend& open(const std::string& device, const BackendOptions& options) {
    const auto key = std::make_tuple(device, options.threads, options.instruction_set, options.precision,
                                     options.cublaslt);
    if (backend_ && key == key_) return *backend_;
    backend_.reset();
    backend_ = open_backend(device, options);
    key_ = key;
    return *backend_;
  }

 private:
  std::tuple<std::string, int, std::string, std::string, std::string> key_;
  std::unique_ptr<Backend> backend_;
};

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct PolicyLossJob {
  std::string device;
  BackendOptions options;
  int64_t T = 0, D = 0, V = 0;
  std::vector<float> hidden, lm_head;
  std::vector<int32_t> target;
  LossFields fields;
  float *logprob = nullptr, *entropy = nullptr, *d_hidden = nullptr, *d_lm_head = nullptr;
  uint8_t* clipped = nullptr;
  PolicyLossResult result;

  void run(Backend& backend) {
    const DeviceInput hidden_in(backend, hidden.data(), DType::f32, {T, D});
    const DeviceInput lm_head_in(backend, lm_head.data(), DType::f32, {V, D});
    DeviceOutput d_hidden_out(backend, d_hidden, {T, D});
    DeviceOutput d_lm_head_out(backend, d_lm_head, {V, D});
    PolicyLossArgs args;
    fields.give(args);
    args.hidden = hidden_in.tensor();
    args.lm_head = lm_head_in.tensor();
    args.target = target.data();
    args.logprob = logprob;
    args.entropy = entropy;
    args.clipped = clipped;
    args.d_hidden = d_hidden_out.tensor();
    args.d_lm_head = d_lm_head_out.tensor();
    result = backend.policy_loss(args);
    d_hidden_out.download();
    d_lm_head_out.download();
  }
};

void read_shape(const Fields& fields, PolicyLossJob& job) {
  const Napi::Value value = fields.get("shape");
  const std::string expected = "[T, D, V], three whole numbers from 1 to 2147483647";
  if (!value.IsArray() || value.As<Napi::Array>().Length() != 3) throw fields.wrong("shape", expected, value);
  int64_t* sizes[] = {&job.T, &job.D, &job.V};
  for (uint32_t i = 0; i < 3; i++) {
    const Napi::Value item = value.As<Napi::Array>().Get(i);
    if (!item.IsNumber()) throw fields.wrong("shape", expected, item);
    const double size = item.As<Napi::Number>().DoubleValue();
    if (!(size >= 1 && size <= 2147483647.0) || size != std::floor(size)) {
      throw fields.wrong("shape", expected, item, "ERR_SHAPE");
    }
    *sizes[i] = static_cast<int64_t>(size);
  }
}

// Rows that carry weight must be finite with a target in the vocabulary; the others may hold anything.
void check_rows(const Fields& fields, const PolicyLossJob& job) {
  for (int64_t t = 0; t < job.T; t++) {
    if (!job.fields.active(static_cast<size_t>(t))) continue;
    const int32_t target = job.target[static_cast<size_t>(t)];
    if (target < 0 || target >= job.V) {
      throw Failure("ERR_INVALID_TOKEN", fields.where() + ": expected target[" + std::to_string(t) +
                                             "], which has weight, to be a token id from 0 to " +
                                             std::to_string(job.V - 1) + ", got " + std::to_string(target));
    }
    for (int64_t i = t * job.D; i < (t + 1) * job.D; i++) {
      const float x = job.hidden[static_cast<size_t>(i)];
      if (!std::isfinite(x)) fail_not_finite(fields.where(), "hidden", static_cast<size_t>(i), x);
    }
  }
}

}  // namespace

std::string read_device(const Fields& fields) {
  return fields.choice("device", {"cpu", "cuda"}, 0) == 1 ? "cuda" : "cpu";
}

BackendOptions read_backend_options(const Fields& fields) {
  BackendOptions options;
  options.threads = static_cast<int>(fields.integer("threads", 0, 512, 0));
  static constexpr const char* kNames[] = {"", "portable", "avx2", "avx512"};
  options.instruction_set = kNames[fields.choice("instructionSet", {"", "portable", "avx2", "avx512"}, 0)];
  options.precision = fields.choice("precision", {"bf16", "fp32"}, 0) == 1 ? "fp32" : "";
  if (fields.has("cublaslt")) options.cublaslt = fields.text("cublaslt");
  return options;
}

Napi::Value KernelsWrap::mask_tokens(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Fields fields("maskTokens", info[0]);
  const std::vector<uint8_t> generated = fields.array<uint8_t>("generated");
  const auto N = static_cast<int64_t>(generated.size());
  const std::vector<int32_t> offsets = fields.array<int32_t>("sequenceOffsets");
  if (N > 0 || offsets.size() != 1 || offsets[0] != 0) check_offsets(fields.where(), offsets, N);
  const auto S = static_cast<int64_t>(offsets.size()) - 1;
  const std::vector<float> outcome = fields.array<float>("outcomeAdvantage", S);
  for (int64_t s = 0; s < S; s++) {
    bool any = false;
    for (int32_t t = offsets[s]; t < offsets[s + 1]; t++) {
      if (generated[t] > 1) {
        throw Failure("ERR_OUT_OF_RANGE", "maskTokens: expected generated[" + std::to_string(t) +
                                              "] to be 0 or 1, got " + std::to_string(generated[t]));
      }
      any = any || generated[t] == 1;
    }
    if (any && !std::isfinite(outcome[s])) fail_not_finite("maskTokens", "outcomeAdvantage", s, outcome[s]);
  }

  std::vector<int32_t> call_start, call_end, identity_start, identity_end;
  std::vector<float> read_advantage;
  if (fields.has("reads")) {
    const Fields reads = fields.object("reads");
    read_advantage = reads.array<float>("advantage");
    const auto A = static_cast<int64_t>(read_advantage.size());
    call_start = reads.array<int32_t>("callStart", A);
    call_end = reads.array<int32_t>("callEnd", A);
    identity_start = reads.array<int32_t>("identityStart", A);
    identity_end = reads.array<int32_t>("identityEnd", A);
    check_finite(reads.where(), "advantage", read_advantage);
    check_ranges(reads.where(), "callStart", "callEnd", call_start, call_end, N);
    check_ranges(reads.where(), "identityStart", "identityEnd", identity_start, identity_end, N);
  }

  TokenMaskArgs args;
  args.selector_coefficient = fields.number("selectorCoefficient", {0, kInfinity});
  args.read_calls_included = fields.choice("readCalls", {"excluded", "included"}, 0) == 1;
  const auto length = static_cast<size_t>(N);
  const OutArray<uint8_t> channel(env, length);
  const OutArray<float> advantage(env, length), weight(env, length), kl_weight(env, length);
  args.tokens = N;
  args.sequences = S;
  args.reads = static_cast<int64_t>(read_advantage.size());
  args.sequence_offsets = offsets.data();
  args.generated = generated.data();
  args.outcome_advantage = outcome.data();
  args.call_start = call_start.data();
  args.call_end = call_end.data();
  args.identity_start = identity_start.data();
  args.identity_end = identity_end.data();
  args.read_advantage = read_advantage.data();
  args.channel = channel.data();
  args.advantage = advantage.data();
  args.weight = weight.data();
  args.kl_weight = kl_weight.data();
  if (!mask_backend_) mask_backend_ = open_backend("cpu", {1, ""});
  const int64_t count = mask_backend_->token_mask(args);

  Napi::Object result = Napi::Object::New(env);
  result.Set("channel", channel.value());
  result.Set("advantage", advantage.value());
  result.Set("weight", weight.value());
  result.Set("klWeight", kl_weight.value());
  result.Set("generatedCount", static_cast<double>(count));
  return result;
}

Napi::Value KernelsWrap::policy_loss(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Fields fields("policyLoss", info[0]);
  const auto work = std::make_shared<PolicyLossJob>();
  work->device = read_device(fields);
  work->options = read_backend_options(fields);
  read_shape(fields, *work);
  work->hidden = fields.array<float>("hidden", work->T * work->D);
  work->lm_head = fields.array<float>("lmHead", work->V * work->D);
  work->target = fields.array<int32_t>("target", work->T);
  work->fields = LossFields::read(fields, work->T);
  check_finite(fields.where(), "lmHead", work->lm_head);
  check_rows(fields, *work);

  struct Outputs {
    OutArray<float> logprob, entropy, d_hidden, d_lm_head;
    OutArray<uint8_t> clipped;
  };
  const auto rows = static_cast<size_t>(work->T);
  const auto out = std::make_shared<Outputs>(Outputs{
      {env, rows}, {env, rows}, {env, work->hidden.size()}, {env, work->lm_head.size()}, {env, rows}});
  work->logprob = out->logprob.data();
  work->entropy = out->entropy.data();
  work->d_hidden = out->d_hidden.data();
  work->d_lm_head = out->d_lm_head.data();
  work->clipped = out->clipped.data();

  if (!thread_) {
    auto latest = std::make_unique<LatestBackend>();
    latest_ = latest.get();
    thread_ = environment_.start_thread(std::move(latest), "kernel thread");
  }
  auto job = std::make_shared<Job>();
  job->id = environment_.next_id();
  job->what = "policyLoss()";
  job->run = [work, latest = latest_](const JobPtr&) {
    work->run(latest->open(work->device, work->options));
  };
  Pending pending;
  pending.result = [work, out](Napi::Env env) {
    Napi::Object result = Napi::Object::New(env);
    result.Set("loss", work->result.loss);
    result.Set("klLoss", work->result.kl_loss);
    result.Set("logprob", out->logprob.value());
    result.Set("entropy", out->entropy.value());
    result.Set("clipped", out->clipped.value());
    result.Set("dHidden", out->d_hidden.value());
    result.Set("dLmHead", out->d_lm_head.value());
    return result;
  };
  return environment_.submit(*thread_, std::move(job), std::move(pending));
}

}  // namespace skillgate
