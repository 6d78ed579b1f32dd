#include "bench_case.h"

namespace skillgate::bench {

Case make_sampling(const Spec& spec, Backend& backend, int) {
  const int64_t R = spec.size("R"), V = spec.size("V");
  const Buffer logits(R * V, 1, 5.f), logprob(R), token(R);
  SampleOptions one;
  one.top_p = static_cast<float>(spec.number("top_p", 1));
  one.top_k = static_cast<int32_t>(spec.number("top_k", 0));
  std::vector<SampleOptions> options(static_cast<size_t>(R), one);
  for (int64_t r = 0; r < R; ++r) options[r].counter = static_cast<uint64_t>(r);
  Case c;
  c.shape = "R " + std::to_string(R) + " V " + std::to_string(V);
  if (one.top_p < 1) c.shape += " top-p";
  if (one.top_k > 0) c.shape += " top-k";
  c.flop = 4.0 * R * V;  // difference, exponential, two sums
  c.bytes = 4.0 * R * V;
  c.run = [=, &backend] {
    backend.sample(token.i32(), logprob.f32(), logits.tensor({R, V}), options.data());
  };
  return c;
}

}  // namespace skillgate::bench
