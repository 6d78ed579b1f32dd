#include "bench_case.h"

namespace skillgate::bench {

Case make_grad_norm(const Spec& spec, Backend& backend, int) {
  const int64_t n = spec.size("N");
  const Buffer x(n, 1, 1.f);
  Case c;
  c.shape = "N " + std::to_string(n);
  c.flop = 2.0 * n;
  c.bytes = 4.0 * n;
  c.run = [=, &backend] {
    double sum = 0;
    backend.sum_of_squares(Tensor(&sum, DType::f64, {1}), x.tensor({n}));
  };
  return c;
}

}  // namespace skillgate::bench
