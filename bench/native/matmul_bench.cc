#include "backend/status.h"
#include "bench_case.h"

namespace skillgate::bench {

// A linear layer's three products; `packed` is left out of the time: weights are packed once a step.
Case make_matmul(const Spec& spec, Backend& backend, int) {
  const int64_t T = spec.size("T"), N = spec.size("N"), K = spec.size("K");
  const std::string pass = spec.text("pass", "forward");
  const Buffer x(T * K, 1, 1.f), w(N * K, 2, 1.f), y(T * N, 3, 1.f);
  const Buffer packed(static_cast<int64_t>(backend.packed_bytes(N, K) / 4) + 1);
  Case c;
  c.shape = pass + " T " + std::to_string(T) + " N " + std::to_string(N) + " K " + std::to_string(K);
  c.flop = 2.0 * T * N * K;
  c.bytes = 4.0 * (T * K + N * K + T * N);
  if (pass == "forward") {
    backend.pack(packed.f32(), w.tensor({N, K}));
    c.run = [=, &backend] {
      backend.linear_forward(y.tensor({T, N}), x.tensor({T, K}), w.tensor({N, K}), packed.f32(), {});
    };
  } else if (pass == "input") {
    c.run = [=, &backend] {
      backend.linear_backward_input(x.tensor({T, K}), y.tensor({T, N}), w.tensor({N, K}), packed.f32(),
                                    false);
    };
  } else if (pass == "weight") {
    c.bytes += 4.0 * N * K;  // dw is read and written
    c.run = [=, &backend] {
      backend.linear_backward_weight(w.tensor({N, K}), {}, y.tensor({T, N}), x.tensor({T, K}));
    };
  } else if (pass == "pack") {
    c.flop = 0;
    c.bytes = 8.0 * N * K;
    c.run = [=, &backend] { backend.pack(packed.f32(), w.tensor({N, K})); };
  } else {
    throw Failure("ERR_BENCH", "matmul: expected the pass forward, input, weight or pack, got " + pass);
  }
  return c;
}

}  // namespace skillgate::bench
