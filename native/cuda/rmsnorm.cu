// y = x * rstd * w, rstd = 1 / sqrt(mean(x^2) + eps): a warp a row where rows are short, else a block a row.
#include "cuda/column_sums.cuh"
#include "cuda/ops.h"
#include "cuda/reduce.cuh"

namespace skillgate::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kWarpWidth = 512;  // rows up to this long are one warp's

// The row this thread works on, and its place among the row's threads.
template <bool kWarpRow>
struct RowShare {
  int64_t row;
  int first, threads;
  __device__ RowShare() {
    row = kWarpRow ? static_cast<int64_t>(blockIdx.x) * (kThreads / kWarp) + warp_id() : blockIdx.x;
    first = kWarpRow ? lane_id() : static_cast<int>(threadIdx.x);
    threads = kWarpRow ? kWarp : kThreads;
  }
  __device__ float sum(float value, float* slots) const {
    if constexpr (kWarpRow) return warp_sum(value);
    return block_sum(value, slots);
  }
};

template <bool kWarpRow>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_forward_kernel(float* y, float* rstd, const float* x, const float* w, int64_t N, int64_t D,
                           float eps) {
  SKILLGATE_SHARED(float, slots, [kWarp]);
  const RowShare<kWarpRow> at;
  if (at.row >= N) return;  // a whole warp or block
  const float* xr = x + at.row * D;
  float sum = 0.f;
  for (int64_t d = at.first; d < D; d += at.threads) sum = fmaf(xr[d], xr[d], sum);
  const float r = 1.f / sqrtf(at.sum(sum, slots) / static_cast<float>(D) + eps);
  for (int64_t d = at.first; d < D; d += at.threads) y[at.row * D + d] = xr[d] * r * w[d];
  if (at.first == 0) rstd[at.row] = r;
}

// dx = rstd * (w * dy - x * rstd^2 * mean(w * dy * x))
template <bool kWarpRow>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_backward_kernel(float* dx, const float* dy, const float* x, const float* w, const float* rstd,
                            int64_t N, int64_t D, bool accumulate) {
  SKILLGATE_SHARED(float, slots, [kWarp]);
  const RowShare<kWarpRow> at;
  if (at.row >= N) return;
  const float *xr = x + at.row * D, *dyr = dy + at.row * D;
  float* dxr = dx + at.row * D;
  const float r = rstd[at.row];
  float sum = 0.f;
  for (int64_t d = at.first; d < D; d += at.threads) sum = fmaf(dyr[d] * w[d], xr[d], sum);
  const float along = at.sum(sum, slots) * r * r / static_cast<float>(D);
  for (int64_t d = at.first; d < D; d += at.threads) {
    const float value = r * (dyr[d] * w[d] - xr[d] * along);
    dxr[d] = accumulate ? dxr[d] + value : value;
  }
}

struct WeightGradient {
  const float *dy, *x, *rstd;
  int64_t D;
  __device__ float operator()(int64_t t, int64_t d) const { return dy[t * D + d] * x[t * D + d] * rstd[t]; }
};

dim3 row_blocks(int64_t N, int64_t D) {
  return dim3(static_cast<unsigned>(D <= kWarpWidth ? ceil_div<int64_t>(N, kThreads / kWarp) : N));
}

}  // namespace

void rmsnorm_forward(Context& context, Tensor y, Tensor rstd, Tensor x, Tensor w, float eps) {
  const int64_t D = w.count(), N = x.count() / D;
  context.launch("rmsnorm_forward",
                 D <= kWarpWidth ? rmsnorm_forward_kernel<true> : rmsnorm_forward_kernel<false>,
                 row_blocks(N, D), kThreads, 0, y.f32(), rstd.f32(), x.f32(), w.f32(), N, D, eps);
}

void rmsnorm_backward(Context& context, Tensor dx, Tensor dw, Tensor dy, Tensor x, Tensor w, Tensor rstd,
                      bool accumulate) {
  const int64_t D = w.count(), N = x.count() / D;
  context.launch(
      "rmsnorm_backward", D <= kWarpWidth ? rmsnorm_backward_kernel<true> : rmsnorm_backward_kernel<false>,
      row_blocks(N, D), kThreads, 0, dx.f32(), dy.f32(), x.f32(), w.f32(), rstd.f32(), N, D, accumulate);
  add_column_sums(context, "rmsnorm_backward_weight", dw.f32(), N, D,
                  WeightGradient{dy.f32(), x.f32(), rstd.f32(), D});
}

}  // namespace skillgate::cuda
