// Products of fp32 operands, for checking: each element is one chain of sums in float64.
#include "cuda/matmul.h"

namespace skillgate::cuda {
namespace {

constexpr int kTile = 64, kStep = 16, kThreads = 256;
constexpr int kEach = 4;  // rows and columns of the result that a thread owns

// tile[k][i] = x(i0 + i, k0 + k), 0 outside.
__device__ __forceinline__ void load_tile(float (&tile)[kStep][kTile + kEach], const Operand<float>& x,
                                          int64_t i0, int64_t i_end, int64_t k0, int64_t k_end) {
#pragma unroll
  for (int n = 0; n < kTile * kStep / kThreads; n++) {
    const int at = static_cast<int>(threadIdx.x) + n * kThreads;
    // Neighbouring threads read neighbours in memory.
    const int i = x.k_contiguous ? at / kStep : at % kTile, k = x.k_contiguous ? at % kStep : at / kTile;
    float value = 0.f;
    if (i0 + i < i_end && k0 + k < k_end) {
      const int64_t row = x.k_contiguous ? i0 + i : k0 + k, column = x.k_contiguous ? k0 + k : i0 + i;
      value = x.data[(x.rows ? static_cast<int64_t>(x.rows[row]) : row) * x.stride + column];
    }
    tile[k][i] = value;
  }
}

__global__ void __launch_bounds__(kThreads) matmul_fp32_kernel(Product<float> p) {
  SKILLGATE_SHARED(float, left, [kStep][kTile + kEach]);
  SKILLGATE_SHARED(float, right, [kStep][kTile + kEach]);
  const int64_t tiles_across = ceil_div<int64_t>(p.N, kTile);
  const int64_t m0 = blockIdx.x / tiles_across * kTile, n0 = blockIdx.x % tiles_across * kTile;
  const int64_t M = p.m_count ? *p.m_count : p.M, K = p.k_count ? *p.k_count : p.K;
  if (m0 >= M) return;
  const int ti = static_cast<int>(threadIdx.x) / (kTile / kEach) * kEach;
  const int tj = static_cast<int>(threadIdx.x) % (kTile / kEach) * kEach;
  double sums[kEach][kEach] = {};
  for (int64_t k0 = 0; k0 < K; k0 += kStep) {
    load_tile(left, p.left, m0, M, k0, K);
    load_tile(right, p.right, n0, p.N, k0, K);
    __syncthreads();  // the tiles are complete
#pragma unroll
    for (int k = 0; k < kStep; k++)
#pragma unroll
      for (int i = 0; i < kEach; i++)
#pragma unroll
        for (int j = 0; j < kEach; j++)
          sums[i][j] =
              fma(static_cast<double>(left[k][ti + i]), static_cast<double>(right[k][tj + j]), sums[i][j]);
    __syncthreads();  // nobody reads them any more
  }
#pragma unroll
  for (int i = 0; i < kEach; i++) {
    const int64_t m = m0 + ti + i;
    if (m >= M) continue;
    float* row = p.out + (p.out_rows ? static_cast<int64_t>(p.out_rows[m]) : m) * p.out_stride;
#pragma unroll
    for (int j = 0; j < kEach; j++) {
      const int64_t n = n0 + tj + j;
      if (n >= p.N) continue;
      double value = sums[i][j];
      if (p.bias) value += p.bias[n];
      row[n] = static_cast<float>(p.accumulate ? row[n] + value : value);
    }
  }
}

}  // namespace

void multiply(Context& context, const Product<float>& p) {
  if (p.M == 0 || p.N == 0) return;
  const int64_t blocks = ceil_div<int64_t>(p.M, kTile) * ceil_div<int64_t>(p.N, kTile);
  context.launch("matmul_fp32", matmul_fp32_kernel, dim3(static_cast<unsigned>(blocks)), kThreads, 0, p);
}

}  // namespace skillgate::cuda
