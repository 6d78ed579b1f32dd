#include "bench_case.h"

namespace skillgate::bench {

Case make_rmsnorm(const Spec& spec, Backend& backend, int) {
  const int64_t N = spec.size("T"), D = spec.size("D");
  const bool backward = spec.text("pass", "forward") == "backward";
  const Buffer x(N * D, 1, 1.f), w(D, 2, 1.f), y(N * D, 3, 1.f), rstd(N), dx(N * D), dw(D);
  auto forward = [=, &backend] {
    backend.rmsnorm_forward(y.tensor({N, D}), rstd.tensor({N}), x.tensor({N, D}), w.tensor({D}), 1e-5f);
  };
  Case c;
  c.shape =
      std::string(backward ? "backward" : "forward") + " T " + std::to_string(N) + " D " + std::to_string(D);
  c.flop = (backward ? 8.0 : 4.0) * N * D;
  c.bytes = (backward ? 12.0 : 8.0) * N * D;
  c.run = forward;
  if (!backward) return c;
  forward();
  c.run = [=, &backend] {
    backend.rmsnorm_backward(dx.tensor({N, D}), dw.tensor({D}), y.tensor({N, D}), x.tensor({N, D}),
                             w.tensor({D}), rstd.tensor({N}), false);
  };
  return c;
}

}  // namespace skillgate::bench
