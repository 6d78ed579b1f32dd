#include "bench_case.h"

namespace skillgate::bench {

Case make_embedding(const Spec& spec, Backend& backend, int) {
  const int64_t T = spec.size("T"), D = spec.size("D"), V = spec.size("V");
  const bool backward = spec.text("pass", "forward") == "backward";
  const Buffer table(V * D, 1, 1.f), y(T * D, 2, 1.f), tokens(T);
  uint64_t state = 7;
  for (int64_t t = 0; t < T; ++t) tokens.i32()[t] = static_cast<int32_t>(next_random(state) % V);
  Case c;
  c.shape = std::string(backward ? "backward" : "forward") + " T " + std::to_string(T) + " D " +
            std::to_string(D) + " V " + std::to_string(V);
  c.flop = backward ? 1.0 * T * D : 0;
  c.bytes = (backward ? 12.0 : 8.0) * T * D;
  if (backward) {
    c.run = [=, &backend] {
      backend.embedding_backward(table.tensor({V, D}), y.tensor({T, D}), tokens.ids({T}));
    };
  } else {
    c.run = [=, &backend] {
      backend.embedding_forward(y.tensor({T, D}), table.tensor({V, D}), tokens.ids({T}));
    };
  }
  return c;
}

}  // namespace skillgate::bench
