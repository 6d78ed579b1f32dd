#include "bench_case.h"

namespace skillgate::bench {

Case make_swiglu(const Spec& spec, Backend& backend, int) {
  const int64_t T = spec.size("T"), F = spec.size("F");
  const bool backward = spec.text("pass", "forward") == "backward";
  const Buffer gate(T * F, 1, 2.f), up(T * F, 2, 1.f), y(T * F, 3, 1.f), dgate(T * F), dup(T * F);
  Case c;
  c.shape =
      std::string(backward ? "backward" : "forward") + " T " + std::to_string(T) + " F " + std::to_string(F);
  c.flop = (backward ? 10.0 : 5.0) * T * F;  // the exponential counts as one
  c.bytes = (backward ? 20.0 : 12.0) * T * F;
  if (backward) {
    c.run = [=, &backend] {
      backend.swiglu_backward(dgate.tensor({T, F}), dup.tensor({T, F}), y.tensor({T, F}), gate.tensor({T, F}),
                              up.tensor({T, F}));
    };
  } else {
    c.run = [=, &backend] {
      backend.swiglu_forward(y.tensor({T, F}), gate.tensor({T, F}), up.tensor({T, F}));
    };
  }
  return c;
}

}  // namespace skillgate::bench
