#include "cpu/grad_norm.h"

namespace skillgate {
namespace {

constexpr int64_t kPiece = 16384;

}  // namespace

double sum_of_squares(CpuContext& context, const float* x, int64_t n) {
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  double* partial =
      reinterpret_cast<double*>(context.scratch.reserve(static_cast<size_t>(pieces) * sizeof(double)));
  context.pool.run(pieces, context.threads_for(n / 4), [&](int64_t i, int) {
    partial[i] = context.kernels.sum_of_squares(x + i * kPiece, std::min(kPiece, n - i * kPiece));
  });
  double total = 0;
  for (int64_t i = 0; i < pieces; ++i) total += partial[i];
  return total;
}

}  // namespace skillgate
