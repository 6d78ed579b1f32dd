#include "bench_case.h"

namespace skillgate::bench {

Case make_rope(const Spec& spec, Backend& backend, int) {
  const int64_t T = spec.size("T"), H = spec.size("H"), E = spec.size("E");
  const Buffer x(T * H * E, 1, 1.f), cosine(T * E / 2, 2, 1.f), sine(T * E / 2, 3, 1.f), positions(T);
  for (int64_t t = 0; t < T; ++t) positions.i32()[t] = static_cast<int32_t>(t);
  Case c;
  c.shape = "T " + std::to_string(T) + " H " + std::to_string(H) + " E " + std::to_string(E);
  c.flop = 3.0 * T * H * E;
  c.bytes = 8.0 * T * H * E;
  c.run = [=, &backend] {
    backend.rope(x.tensor({T, H, E}), cosine.tensor({T, E / 2}), sine.tensor({T, E / 2}), positions.ids({T}),
                 false);
  };
  return c;
}

}  // namespace skillgate::bench
