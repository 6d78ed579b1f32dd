#include "cpu/rmsnorm.h"

#include <cstring>

namespace skillgate {
namespace {

// dw is summed over blocks of rows whose number depends on N alone, then over the blocks in order.
constexpr int64_t kMaxBlocks = 64;
constexpr int64_t kLeastBlockRows = 32;

}  // namespace

void rmsnorm_forward(CpuContext& context, float* y, float* rstd, const float* x, const float* w, int64_t N,
                     int64_t D, float eps) {
  int64_t grain = std::max<int64_t>(1, 4096 / D);
  context.for_ranges(N, grain, N * (2 * D / context.kernels.width + 8), [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) context.kernels.rmsnorm(y + r * D, rstd + r, x + r * D, w, D, eps);
  });
}

void rmsnorm_backward(CpuContext& context, float* dx, float* dw, const float* dy, const float* x,
                      const float* w, const float* rstd, int64_t N, int64_t D, bool accumulate) {
  const Kernels& kernels = context.kernels;
  const int64_t blocks = std::clamp<int64_t>(N / kLeastBlockRows, 1, kMaxBlocks);
  const int64_t stride = (D + 15) / 16 * 16;
  float* partial =
      reinterpret_cast<float*>(context.scratch.reserve(static_cast<size_t>(blocks * stride) * sizeof(float)));
  const int threads = context.threads_for(N * (4 * D / kernels.width + 8));
  context.pool.run(blocks, threads, [&](int64_t block, int) {
    float* sum = partial + block * stride;
    std::memset(sum, 0, static_cast<size_t>(D) * sizeof(float));
    for (int64_t r = N * block / blocks; r < N * (block + 1) / blocks; ++r) {
      kernels.rmsnorm_backward(dx + r * D, sum, dy + r * D, x + r * D, w, D, rstd[r], accumulate);
    }
  });
  for (int64_t block = 0; block < blocks; ++block) kernels.add(dw, partial + block * stride, D);
}

}  // namespace skillgate
