// Policies whose forward products read bf16 weights.
#include "check.h"
#include "model/tiny_model.h"
#include "train/policy_batch.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

std::unique_ptr<Policy> open_as(const ScratchFolder& folder, DType weights, bool trainable) {
  PolicyOptions o;
  o.backend.threads = 1;
  o.weights = weights;
  o.trainable = trainable;
  return Policy::load(folder.path(), o);
}

// Some greedy tokens after the batch's first sequences, all at once, with their logprobs.
std::map<uint64_t, GenerateResult> generate(Policy& policy, const Batch& b) {
  Generator& g = policy.generator();
  for (uint64_t id = 0; id < 5; id++) {
    GenerateRequest r;
    r.id = id;
    r.tokens.assign(b.tokens.begin() + b.offsets[id], b.tokens.begin() + b.offsets[id + 1]);
    r.max_tokens = 12;
    r.sample.seed = id;
    g.submit(r);
  }
  std::map<uint64_t, GenerateResult> results;
  while (!g.idle())
    for (GenerateResult& r : g.advance()) results[r.id] = r;
  return results;
}

bool same(const std::map<uint64_t, GenerateResult>& a, const std::map<uint64_t, GenerateResult>& b) {
  for (const auto& [id, r] : a)
    if (r.tokens != b.at(id).tokens || r.logprobs != b.at(id).logprobs) return false;
  return a.size() == b.size();
}

}  // namespace

TEST(weights_that_bf16_holds_lose_nothing) {
  ScratchFolder folder;
  TinyModel model;
  model.bf16_values = true;
  model.write(folder.path());
  const Batch b = random_batch(7);
  auto plain = open_as(folder, DType::f32, true);
  const std::vector<float> wanted = logprobs(*plain, b);
  const auto sampled = generate(*plain, b);
  for (const bool trainable : {false, true}) {
    auto policy = open_as(folder, DType::bf16, trainable);
    EXPECT(logprobs(*policy, b) == wanted);
    EXPECT(same(generate(*policy, b), sampled));
  }
}

TEST(only_generation_of_a_trained_policy_reads_bf16) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  const Batch b = random_batch(7);
  auto plain = open_as(folder, DType::f32, true), mixed = open_as(folder, DType::bf16, true),
       scorer = open_as(folder, DType::bf16, false);
  for (int step = 0; step < 2; step++) {
    EXPECT(logprobs(*mixed, b) == logprobs(*plain, b));
    const auto sampled = generate(*mixed, b);
    EXPECT(!same(sampled, generate(*plain, b)));
    if (step == 0) EXPECT(same(sampled, generate(*scorer, b)));
    for (Policy* p : {plain.get(), mixed.get()}) {
      accumulate(*p, b);
      p->step({.learning_rate = 1e-2f});
    }
    EXPECT(read_all(*mixed, false) == read_all(*plain, false));
    EXPECT(!same(generate(*mixed, b), sampled));  // generation reads the new weights
  }
  // A policy that is not trained scores as it generates: near what f32 says, and not the same.
  double most = 0;
  const std::vector<float> near = logprobs(*scorer, b);
  auto fresh = open_as(folder, DType::f32, false);
  const std::vector<float> exact = logprobs(*fresh, b);
  for (size_t t = 0; t < near.size(); t++) most = std::max(most, std::fabs(double{near[t]} - exact[t]));
  EXPECT(most > 0 && most < 0.2);
  auto light = open_as(folder, DType::bf16, false);
  logprobs(*light, b);
  EXPECT(light->resident_bytes() < fresh->resident_bytes());
}
