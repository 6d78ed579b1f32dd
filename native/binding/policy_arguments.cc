#include "binding/policy_arguments.h"

#include <cmath>
#include <limits>

#include "binding/checks.h"
#include "binding/kernels_wrap.h"

namespace skillgate {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

PolicyOptions read_policy_options(const Fields& fields) {
  PolicyOptions options;
  options.device = read_device(fields);
  options.backend = read_backend_options(fields);
  options.trainable = fields.boolean("trainable", options.trainable);
  options.recompute = fields.boolean("recompute", options.recompute);
  options.weights = fields.choice("weights", {"f32", "bf16"}, 0) == 1 ? DType::bf16 : DType::f32;
  options.memory_limit = fields.integer("memoryLimit", 0, int64_t{1} << 52, options.memory_limit);
  options.share_prefixes = fields.boolean("sharePrefixes", options.share_prefixes);
  options.prefill_chunk = fields.integer("prefillChunk", 1, 1 << 20, options.prefill_chunk);
  return options;
}

PackedTokens PackedTokens::read(const Fields& fields, int64_t vocabulary, int64_t max_context) {
  PackedTokens packed;
  packed.tokens = fields.array<int32_t>("tokens");
  packed.offsets = fields.array<int32_t>("sequenceOffsets");
  if (packed.tokens.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    throw Failure("ERR_SHAPE", fields.where() + ": expected at most 2147483647 tokens, got " +
                                   std::to_string(packed.tokens.size()));
  }
  check_offsets(fields.where(), packed.offsets, static_cast<int64_t>(packed.tokens.size()));
  check_tokens(fields.where(), "tokens", packed.tokens, vocabulary);
  for (size_t s = 0; s + 1 < packed.offsets.size(); s++) {
    const int64_t length = int64_t{packed.offsets[s + 1]} - packed.offsets[s];
    if (length <= max_context) continue;
    throw Failure("ERR_CONTEXT_LENGTH", fields.where() + ": expected sequences of at most " +
                                            std::to_string(max_context) +
                                            " tokens (the model's context), got " + std::to_string(length) +
                                            " in sequence " + std::to_string(s));
  }
  return packed;
}

Sequences PackedTokens::sequences() const {
  Sequences sequences;
  sequences.tokens = tokens.data();
  sequences.token_count = static_cast<int64_t>(tokens.size());
  sequences.offsets = offsets.data();
  sequences.sequence_count = static_cast<int64_t>(offsets.size()) - 1;
  return sequences;
}

void check_first_tokens(const Fields& fields, const PackedTokens& packed, const LossFields& loss) {
  for (size_t s = 0; s + 1 < packed.offsets.size(); s++) {
    const auto first = static_cast<size_t>(packed.offsets[s]);
    if (!loss.active(first)) continue;
    throw Failure("ERR_FIRST_TOKEN_WEIGHT",
                  fields.where() + ": expected weight and klWeight to be 0 at index " +
                      std::to_string(first) + ", the first token of sequence " + std::to_string(s) +
                      " (nothing comes before it to predict it from), got " + describe(loss.weight[first]) +
                      " and " + describe(loss.kl_weight[first]));
  }
}

float read_temperature(const Fields& fields) {
  return fields.single("temperature", {0, kInfinity, true}, 1);
}

StepOptions read_step_options(const Fields& fields) {
  StepOptions options;
  options.learning_rate = fields.single("learningRate", {0, kInfinity});
  if (fields.has("betas")) {
    const Napi::Value value = fields.get("betas");
    const char* expected = "[beta1, beta2], two numbers in [0, 1)";
    if (!value.IsArray() || value.As<Napi::Array>().Length() != 2)
      throw fields.wrong("betas", expected, value);
    float* betas[] = {&options.beta1, &options.beta2};
    for (uint32_t i = 0; i < 2; i++) {
      const Napi::Value item = value.As<Napi::Array>().Get(i);
      if (!item.IsNumber()) throw fields.wrong("betas", expected, item);
      *betas[i] = item.As<Napi::Number>().FloatValue();
      if (!(*betas[i] >= 0.f && *betas[i] < 1.f))
        throw fields.wrong("betas", expected, item, "ERR_OUT_OF_RANGE");
    }
  }
  options.eps = fields.single("eps", {0, kInfinity, true}, options.eps);
  options.weight_decay = fields.single("weightDecay", {0, kInfinity}, options.weight_decay);
  options.max_grad_norm = fields.single("maxGradNorm", {0, kInfinity}, options.max_grad_norm);
  return options;
}

GenerateRequest read_generate_request(const Fields& fields, int64_t vocabulary) {
  GenerateRequest request;
  request.tokens = fields.array<int32_t>("tokens");
  if (request.tokens.empty()) {
    throw Failure("ERR_SHAPE", fields.where() + ": expected tokens to hold at least one token, got none");
  }
  check_tokens(fields.where(), "tokens", request.tokens, vocabulary);
  request.max_tokens = fields.integer("maxTokens", 1, std::numeric_limits<int32_t>::max());
  request.sample.temperature = fields.single("temperature", {0, kInfinity}, 1);
  request.sample.top_p = fields.single("topP", {0, 1, true}, 1);
  request.sample.top_k =
      static_cast<int32_t>(fields.integer("topK", 0, std::numeric_limits<int32_t>::max(), 0));
  request.sample.min_p = fields.single("minP", {0, 1}, 0);
  request.sample.seed = fields.seed("seed");
  request.stop_tokens = fields.ids("stopTokens", vocabulary);
  return request;
}

}  // namespace skillgate
