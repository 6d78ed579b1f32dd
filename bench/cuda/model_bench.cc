#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "gpu_bench.h"
#include "io/json.h"
#include "rounds.h"
#include "train/policy.h"

namespace skillgate::bench {
namespace {

constexpr int kRounds = 3;

double seconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Norms are 1, matrices small and random: a device computes zeros with less power, and so faster.
std::unique_ptr<Policy> load(const std::string& folder, bool trainable) {
  PolicyOptions options;
  options.device = "cuda";
  options.trainable = trainable;
  auto policy = Policy::load(folder, options);
  std::vector<float> values;
  uint64_t state = 88172645463325252u;
  for (const ParameterInfo& p : policy->parameters()) {
    int64_t n = 1;
    for (const int64_t d : p.shape) n *= d;
    const auto size = static_cast<size_t>(n);
    for (size_t i = values.size(); i < size; i++) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      values.push_back(0.02f * (static_cast<float>(state >> 40) * 0x1p-23f - 1.f));
    }
    const std::vector<float> ones(p.shape.size() == 1 ? size : 0, 1.f);
    policy->write_parameter(p.name, ones.empty() ? values.data() : ones.data());
  }
  return policy;
}

std::vector<int32_t> some_tokens(const Policy& policy, int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; i++)
    tokens.push_back(static_cast<int32_t>((i * 7919 + 13) % policy.config().V));
  return tokens;
}

}  // namespace

void measure_update(const std::string& folder, int64_t sequences, int64_t length) {
  const auto policy = load(folder, true);
  const int64_t T = sequences * length;
  const std::vector<int32_t> tokens = some_tokens(*policy, T);
  std::vector<int32_t> offsets;
  for (int64_t s = 0; s <= sequences; s++) offsets.push_back(static_cast<int32_t>(s * length));
  std::vector<float> advantage(tokens.size(), 1.f), weight(tokens.size(), 0.f), logprob(tokens.size());
  std::vector<uint8_t> clipped(tokens.size());
  for (size_t t = 0; t < weight.size(); t++)
    if (t % 4 == 3) weight[t] = 4.f / static_cast<float>(T);
  AccumulateArgs a;
  a.sequences = {tokens.data(), T, offsets.data(), sequences};
  a.advantage = advantage.data();
  a.weight = a.kl_weight = weight.data();
  a.logprob = logprob.data();
  a.clipped = clipped.data();
  StepOptions step;
  std::vector<double> passes, steps;
  for (int round = 0; round <= kRounds; round++) {
    const double pass = seconds_of([&] { policy->accumulate(a); });
    const double took = seconds_of([&] { policy->step(step); });
    if (round == 0) continue;
    passes.push_back(pass);
    steps.push_back(took);
  }
  std::printf(
      "{\"device\": %s, \"sequences\": %lld, \"length\": %lld, \"rounds\": %d, \"passSeconds\": %.6g, "
      "\"stepSeconds\": %.6g, \"tokensPerSecond\": %.6g, \"residentBytes\": %lld}\n",
      Json::of(policy->device_description()).dump().c_str(), static_cast<long long>(sequences),
      static_cast<long long>(length), kRounds, median(passes), median(steps),
      static_cast<double>(T) / (median(passes) + median(steps)),
      static_cast<long long>(policy->resident_bytes()));
}

void measure_decode(const std::string& folder, int64_t sequences, int64_t length, int64_t tokens) {
  const auto policy = load(folder, false);
  Generator& generator = policy->generator();
  // Seconds of the whole batch; contexts that differ from their first token on share nothing.
  auto run = [&](int64_t most) {
    return seconds_of([&] {
      for (int64_t s = 0; s < sequences; s++) {
        GenerateRequest request;
        request.id = static_cast<uint64_t>(s + 1);
        request.tokens = some_tokens(*policy, length);
        request.tokens[0] = static_cast<int32_t>(s % policy->config().V);
        request.max_tokens = most;
        request.sample.seed = static_cast<uint64_t>(s);
        generator.submit(request);
      }
      while (!generator.idle()) generator.advance();
    });
  };
  run(1);
  std::vector<double> decoding;
  for (int round = 0; round < kRounds; round++) {
    const double first = run(1);
    decoding.push_back(run(tokens) - first);
  }
  const double sampled = static_cast<double>(sequences * (tokens - 1));
  std::printf(
      "{\"device\": %s, \"sequences\": %lld, \"length\": %lld, \"tokens\": %lld, \"rounds\": %d, "
      "\"tokensPerSecond\": %.6g, \"secondsPerToken\": %.6g, \"residentBytes\": %lld}\n",
      Json::of(policy->device_description()).dump().c_str(), static_cast<long long>(sequences),
      static_cast<long long>(length), static_cast<long long>(tokens), kRounds, sampled / median(decoding),
      median(decoding) / static_cast<double>(tokens - 1), static_cast<long long>(policy->resident_bytes()));
}

}  // namespace skillgate::bench
