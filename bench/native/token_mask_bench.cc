#include "bench_case.h"

namespace skillgate::bench {

// S sequences of n tokens, half of them sampled, one read of 24 tokens each.
Case make_token_mask(const Spec& spec, Backend& backend, int) {
  const int64_t S = spec.size("S"), n = spec.size("n"), T = S * n;
  struct Arrays {
    std::vector<int32_t> offsets{0}, call_start, call_end, identity_start, identity_end;
    std::vector<uint8_t> generated, channel;
    std::vector<float> outcome, read, advantage, weight, kl_weight;
  };
  auto a = std::make_shared<Arrays>();
  for (int64_t s = 0; s < S; ++s) {
    const auto at = static_cast<int32_t>(s * n);
    a->offsets.push_back(static_cast<int32_t>(at + n));
    a->call_start.push_back(at + static_cast<int32_t>(n / 2));
    a->call_end.push_back(a->call_start.back() + 24);
    a->identity_start.push_back(a->call_start.back() + 12);
    a->identity_end.push_back(a->call_start.back() + 18);
  }
  for (int64_t t = 0; t < T; ++t) a->generated.push_back(t % n >= n / 2);
  a->outcome.assign(static_cast<size_t>(S), 0.5f);
  a->read.assign(static_cast<size_t>(S), -0.5f);
  a->channel.resize(static_cast<size_t>(T));
  for (auto* out : {&a->advantage, &a->weight, &a->kl_weight}) out->resize(static_cast<size_t>(T));
  Case c;
  c.shape = "S " + std::to_string(S) + " n " + std::to_string(n);
  c.bytes = 14.0 * T;
  c.run = [=, &backend] {
    TokenMaskArgs args;
    args.tokens = T;
    args.sequences = args.reads = S;
    args.sequence_offsets = a->offsets.data();
    args.generated = a->generated.data();
    args.outcome_advantage = a->outcome.data();
    args.call_start = a->call_start.data();
    args.call_end = a->call_end.data();
    args.identity_start = a->identity_start.data();
    args.identity_end = a->identity_end.data();
    args.read_advantage = a->read.data();
    args.selector_coefficient = 1;
    args.channel = a->channel.data();
    args.advantage = a->advantage.data();
    args.weight = a->weight.data();
    args.kl_weight = a->kl_weight.data();
    backend.token_mask(args);
  };
  return c;
}

}  // namespace skillgate::bench
