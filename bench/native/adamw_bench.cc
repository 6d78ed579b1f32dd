#include "bench_case.h"

namespace skillgate::bench {

Case make_adamw(const Spec& spec, Backend& backend, int) {
  const int64_t n = spec.size("N");
  const Buffer w(n, 1, 1.f), gradient(n, 2, 1.f), m(n), v(n);
  Case c;
  c.shape = "N " + std::to_string(n);
  c.flop = 14.0 * n;  // the root and the quotient count as one each
  c.bytes = 28.0 * n;
  c.run = [=, &backend] {
    backend.adamw(w.tensor({n}), gradient.tensor({n}), m.tensor({n}), v.tensor({n}), {}, AdamWOptions());
  };
  return c;
}

}  // namespace skillgate::bench
