// The golden models through Policy with device "cuda": forward, loss, every gradient, three optimizer steps,
// and a greedy continuation; in fp32 within the files' own tolerances, in bf16 within those of its operands.
#include <cmath>

#include "check.h"
#include "device_fixture.h"
#include "golden_file.h"
#include "op_cases.h"
#include "train/policy.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

struct Tolerances {
  double logits, logprob, loss, grad_norm, after3;
};
Tolerances tolerances(const std::string& precision) {
  if (precision == "fp32") return {1e-4, 5e-5, 1e-5, 1e-4, 2e-5};
  // A few layers of operands with 8 bits: about a percent. A token near the clip may fall on its other side,
  // which changes gradients by what the token is worth; AdamW makes steps of one size of them.
  return {0.1, 3e-2, 2e-2, 0.2, 5e-2};
}

// A model's folder and the batch of its golden file, in the terms of accumulate.
struct GoldenModel {
  std::string family;
  GoldenFile file;
  std::vector<int32_t> tokens, offsets{0};
  std::vector<float> advantage, weight, behaviour, reference;

  explicit GoldenModel(const std::string& name) : family(name), file("models/" + name + "/golden") {
    tokens = file.ints("tokens");
    for (const int32_t n : file.ints("sequence_lengths")) offsets.push_back(offsets.back() + n);
    advantage = file.floats("advantage");
    weight = file.floats("weight");
    for (float& w : weight) w = static_cast<float>(w / file.number("denominator"));
    behaviour = file.floats("old_logprob");
    reference = file.floats("ref_logprob");
  }

  Sequences sequences() const {
    return {tokens.data(), static_cast<int64_t>(tokens.size()), offsets.data(),
            static_cast<int64_t>(offsets.size()) - 1};
  }

  std::unique_ptr<Policy> load(const std::string& precision, bool recompute = false) const {
    PolicyOptions o;
    o.device = "cuda";
    o.backend.precision = precision;
    o.backend.cublaslt = "off";
    o.recompute = recompute;
    return Policy::load(std::string(SKILLGATE_TEST_ROOT) + "/fixtures/golden/models/" + family, o);
  }

  PolicyLossResult accumulate(Policy& policy, std::vector<float>* logprob = nullptr) const {
    std::vector<float> lp(tokens.size()), entropy(tokens.size());
    std::vector<uint8_t> clipped(tokens.size());
    AccumulateArgs a;
    a.sequences = sequences();
    a.advantage = advantage.data();
    a.weight = a.kl_weight = weight.data();
    a.behaviour_logprob = behaviour.empty() ? nullptr : behaviour.data();
    a.reference_logprob = reference.data();
    a.clip_low = static_cast<float>(file.number("clip_low"));
    a.clip_high = static_cast<float>(file.number("clip_high"));
    a.kl_coefficient = static_cast<float>(file.number("kl_coef"));
    a.logprob = lp.data();
    a.entropy = entropy.data();
    a.clipped = clipped.data();
    const PolicyLossResult result = policy.accumulate(a);
    if (logprob) *logprob = lp;
    return result;
  }
};

std::vector<float> read(const Policy& policy, const ParameterInfo& p, bool gradient) {
  int64_t n = 1;
  for (int64_t d : p.shape) n *= d;
  std::vector<float> x(static_cast<size_t>(n));
  gradient ? policy.read_gradient(p.name, x.data()) : policy.read_parameter(p.name, x.data());
  return x;
}

const char* const kFamilies[] = {"llama", "llama3_rope", "qwen2", "qwen3"};

// Everything that must not depend on the order of threads.
struct Run {
  double loss = 0, grad_norm = 0;
  std::vector<float> logprob, weights;
  bool operator==(const Run& o) const {
    return loss == o.loss && grad_norm == o.grad_norm &&
           same_bits(logprob.data(), o.logprob.data(), logprob.size() * 4) &&
           weights.size() == o.weights.size() &&
           same_bits(weights.data(), o.weights.data(), weights.size() * 4);
  }
};

Run run_step(const GoldenModel& model, const std::string& precision, bool recompute = false) {
  const auto policy = model.load(precision, recompute);
  Run run;
  run.loss = model.accumulate(*policy, &run.logprob).loss;
  StepOptions step;
  step.learning_rate = 1e-3f;
  run.grad_norm = policy->step(step).grad_norm;
  for (const ParameterInfo& p : policy->parameters()) {
    const std::vector<float> w = read(*policy, p, false);
    run.weights.insert(run.weights.end(), w.begin(), w.end());
  }
  return run;
}

}  // namespace

TEST(logits_and_logprobs_match) {
  for (const char* family : kFamilies)
    for (const char* precision : {"fp32", "bf16"}) {
      check::Scope scope(std::string(family) + " " + precision);
      const GoldenModel model(family);
      const Tolerances t = tolerances(precision);
      const auto policy = model.load(precision);
      const std::vector<float> want = model.file.floats("logits");
      std::vector<float> logits(want.size()), logprob(model.tokens.size()), entropy(model.tokens.size());
      policy->logits(model.sequences(), logits.data());
      policy->logprobs(model.sequences(), 1.f, logprob.data(), entropy.data());
      for (size_t i = 0; i < want.size(); i++) EXPECT_NEAR(logits[i], want[i], t.logits);
      for (size_t i = 0; i < logprob.size(); i++) {
        EXPECT_NEAR(logprob[i], model.file.floats("logprob")[i], t.logprob);
        EXPECT_NEAR(entropy[i], model.file.floats("entropy")[i], t.logprob);
      }
    }
  expect_no_faults();
}

TEST(loss_gradients_and_three_steps_match) {
  for (const char* family : kFamilies)
    for (const char* precision : {"fp32", "bf16"}) {
      check::Scope scope(std::string(family) + " " + precision);
      const GoldenModel model(family);
      const Tolerances t = tolerances(precision);
      const auto policy = model.load(precision);
      for (int i = 0; i < 3; i++) {
        const PolicyLossResult loss = model.accumulate(*policy);
        if (i == 0) {
          EXPECT_NEAR(loss.loss, model.file.number("loss"), t.loss);
          EXPECT_NEAR(loss.kl_loss, model.file.number("loss_kl"), t.loss);
          for (const ParameterInfo& p : policy->parameters()) {
            check::Scope name(p.name);
            const Doubles want = widen(model.file.floats("grad." + p.name));
            if (precision[0] == 'f')
              EXPECT_NEAR(relative_distance(read(*policy, p, true).data(), want), 0, 5e-5);
          }
        }
        StepOptions step;
        step.learning_rate = 1e-3f;
        const StepResult result = policy->step(step);
        EXPECT(!result.skipped);
        if (i == 0) EXPECT_NEAR(result.grad_norm / model.file.number("grad_norm"), 1, t.grad_norm);
      }
      for (const ParameterInfo& p : policy->parameters()) {
        check::Scope name(p.name);
        EXPECT_NEAR(
            relative_distance(read(*policy, p, false).data(), widen(model.file.floats("after3." + p.name))),
            0, t.after3);
      }
    }
  expect_no_faults();
}

// With ratio 1 no token is near a clip: the bf16 gradients are the fp32 ones, which match the golden files,
// to the precision of their operands.
TEST(gradients_in_bf16_match_those_in_fp32) {
  for (const char* family : kFamilies) {
    GoldenModel model(family);
    model.behaviour.clear();
    const auto exact = model.load("fp32"), rounded = model.load("bf16");
    model.accumulate(*exact);
    model.accumulate(*rounded);
    for (const ParameterInfo& p : exact->parameters()) {
      check::Scope scope(std::string(family) + " " + p.name);
      EXPECT_NEAR(relative_distance(read(*rounded, p, true).data(), widen(read(*exact, p, true))), 0, 5e-2);
    }
  }
  expect_no_faults();
}

// The continuation is the golden one, and its logprobs are those of scoring, bit for bit, in either
// precision.
TEST(greedy_continuation_matches_and_repeats_what_scoring_says) {
  for (const char* family : kFamilies)
    for (const char* precision : {"fp32", "bf16"}) {
      check::Scope scope(std::string(family) + " " + precision);
      const GoldenModel model(family);
      const auto policy = model.load(precision);
      const std::vector<int32_t> want = model.file.ints("greedy");
      Generator& generator = policy->generator();
      const auto prompt = static_cast<size_t>(model.offsets[1]);
      GenerateRequest request;
      request.tokens.assign(model.tokens.begin(), model.tokens.begin() + model.offsets[1]);
      request.max_tokens = static_cast<int64_t>(want.size() - prompt);
      request.sample.temperature = 0;
      generator.submit(request);
      std::vector<GenerateResult> done;
      while (done.empty()) done = generator.advance();
      std::vector<int32_t> whole = request.tokens;
      whole.insert(whole.end(), done[0].tokens.begin(), done[0].tokens.end());
      if (std::string(precision) == "fp32") EXPECT(whole == want);
      const int32_t offsets[] = {0, static_cast<int32_t>(whole.size())};
      std::vector<float> scored(whole.size());
      policy->logprobs({whole.data(), offsets[1], offsets, 1}, 1.f, scored.data(), nullptr);
      for (size_t i = 0; i < done[0].logprobs.size(); i++) EXPECT_EQ(done[0].logprobs[i], scored[prompt + i]);
    }
  expect_no_faults();
}

TEST(ten_orders_of_threads_give_the_same_bits) {
  SettingsGuard guard;
  for (const char* precision : {"fp32", "bf16"}) {
    const GoldenModel model("qwen3");
    emulation::settings().seed = 1;
    const Run first = run_step(model, precision);
    for (uint64_t seed = 2; seed <= 10; seed++) {
      check::Scope scope(std::string(precision) + " seed " + std::to_string(seed));
      emulation::settings().seed = seed;
      EXPECT(run_step(model, precision) == first);
    }
    EXPECT(run_step(model, precision, true) == first);  // activations computed again
  }
  expect_no_faults();
}
