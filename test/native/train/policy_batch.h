// Batches for tests of a policy, and short ways to run them.
#pragma once
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "scratch_folder.h"
#include "train/policy.h"

namespace skillgate::test {

struct Batch {
  std::vector<int32_t> tokens, offsets{0};
  std::vector<float> advantage, weight, kl_weight, behaviour, reference;
  void add(const std::vector<int32_t>& sequence) {
    tokens.insert(tokens.end(), sequence.begin(), sequence.end());
    offsets.push_back(static_cast<int32_t>(tokens.size()));
  }
  Sequences sequences() const {
    return {tokens.data(), static_cast<int64_t>(tokens.size()), offsets.data(),
            static_cast<int64_t>(offsets.size()) - 1};
  }
};

// Groups of sequences that share prompts, some branching late, with weights on about half of the tokens.
inline Batch random_batch(uint32_t seed, int V = 113) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Batch b;
  for (int g = 0; g < 3; g++) {
    std::vector<int32_t> prompt(20 + random() % 30);
    for (int32_t& t : prompt) t = static_cast<int32_t>(random() % static_cast<uint32_t>(V));
    std::vector<int32_t> s = prompt;
    for (int k = 0; k < 4; k++) {
      s.resize(random() % 2 ? prompt.size() : prompt.size() + (s.size() - prompt.size()) / 2);
      const size_t more = 1 + random() % 25;
      for (size_t i = 0; i < more; i++)
        s.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(V)));
      b.add(s);
    }
  }
  const size_t T = b.tokens.size();
  for (size_t t = 0; t < T; t++) {
    b.advantage.push_back(normal(random));
    b.weight.push_back(random() % 2 ? 0.f : 1.f / 64);
    b.kl_weight.push_back(random() % 2 ? 0.f : 1.f / 64);
    b.behaviour.push_back(-4.7f + 0.3f * normal(random));
    b.reference.push_back(-4.7f + 0.3f * normal(random));
  }
  for (size_t s = 0; s + 1 < b.offsets.size(); s++) {
    b.weight[static_cast<size_t>(b.offsets[s])] = 0;
    b.kl_weight[static_cast<size_t>(b.offsets[s])] = 0;
  }
  return b;
}

struct Accumulated {
  PolicyLossResult loss;
  std::vector<float> logprob, entropy;
  std::vector<uint8_t> clipped;
};

// Into `out`, whose memory is used again.
inline void accumulate(Policy& policy, const Batch& b, Accumulated& out) {
  for (std::vector<float>* v : {&out.logprob, &out.entropy}) v->resize(b.tokens.size());
  out.clipped.resize(b.tokens.size());
  AccumulateArgs a;
  a.sequences = b.sequences();
  a.advantage = b.advantage.data();
  a.weight = b.weight.data();
  a.kl_weight = b.kl_weight.data();
  a.behaviour_logprob = b.behaviour.data();
  a.reference_logprob = b.reference.data();
  a.kl_coefficient = 0.05f;
  a.logprob = out.logprob.data();
  a.entropy = out.entropy.data();
  a.clipped = out.clipped.data();
  out.loss = policy.accumulate(a);
}

inline Accumulated accumulate(Policy& policy, const Batch& b) {
  Accumulated out;
  accumulate(policy, b, out);
  return out;
}

using Tensors = std::map<std::string, std::vector<float>>;

inline Tensors read_all(const Policy& policy, bool gradients) {
  Tensors out;
  for (const ParameterInfo& p : policy.parameters()) {
    int64_t n = 1;
    for (int64_t d : p.shape) n *= d;
    std::vector<float>& v = out[p.name];
    v.resize(static_cast<size_t>(n));
    gradients ? policy.read_gradient(p.name, v.data()) : policy.read_parameter(p.name, v.data());
  }
  return out;
}

// Relative Frobenius distance of the gradient as a whole; a tensor whose own sum nearly cancels (a key bias
// hardly moves any softmax) has no more digits than the terms it is made of.
inline double distance(const Tensors& a, const Tensors& b) {
  double d = 0, n = 0;
  for (const auto& [name, x] : a)
    for (size_t i = 0; i < x.size(); i++) {
      d += std::pow(static_cast<double>(x[i]) - b.at(name)[i], 2);
      n += std::pow(static_cast<double>(x[i]), 2);
    }
  return std::sqrt(d / n);
}

inline std::unique_ptr<Policy> open(const ScratchFolder& folder, int threads = 1, bool share = true,
                                    bool recompute = false, int64_t prefill_chunk = 512) {
  PolicyOptions o;
  o.backend.threads = threads;
  o.share_prefixes = share;
  o.recompute = recompute;
  o.prefill_chunk = prefill_chunk;
  return Policy::load(folder.path(), o);
}

inline std::vector<float> logprobs(Policy& policy, const Batch& b, float temperature = 1) {
  std::vector<float> out(b.tokens.size()), entropy(b.tokens.size());
  policy.logprobs(b.sequences(), temperature, out.data(), entropy.data());
  return out;
}

}  // namespace skillgate::test
