// Tensor-core products of bf16 operands: tiles in shared memory filled by asynchronous copies several steps
// ahead, fp32 sums in registers.
#include "cuda/matmul.h"
#include "cuda/tensor_core.cuh"

namespace skillgate::cuda {
namespace {

constexpr int kChunk = 8;  // bf16 in the 16 bytes that one copy moves

template <int kRows_, int kColumns_, int kStep_, int kWarpRows_, int kWarpColumns_, int kStages_>
struct Tiling {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kStep = kStep_;
  static constexpr int kWarpRows = kWarpRows_, kWarpColumns = kWarpColumns_, kStages = kStages_;
  static constexpr int kWarpsDown = kRows / kWarpRows, kWarpsAcross = kColumns / kWarpColumns;
  static constexpr int kThreads = kWarpsDown * kWarpsAcross * kWarp;
  static constexpr int kStageElements = (kRows + kColumns) * kStep;
  static constexpr size_t kSharedBytes = sizeof(bf16) * kStages * kStageElements;
};
using LargeTiling = Tiling<128, 128, 32, 64, 32, 4>;
using MediumTiling = Tiling<64, 64, 32, 32, 32, 4>;
using FlatTiling = Tiling<16, 32, 64, 16, 8, 6>;  // few rows: decoding

// Where chunk c of row r lies in a tile whose rows have kChunks chunks: eight rows that are read together
// fall into different banks.
template <int kChunks>
__device__ __forceinline__ int swizzled(int r, int c) {
  constexpr int kPeriod = kChunks >= 8 ? 8 : kChunks;
  return r * kChunks + (c ^ ((r / (8 / kPeriod)) % kPeriod));
}

// Starts the copies of a tile of kSpan i and kStep k to shared memory: [kSpan][kStep] where k is contiguous,
// else [kStep][kSpan]. What lies outside the operand becomes 0.
template <bool kContiguous, int kSpan, int kStep, int kThreads>
__device__ __forceinline__ void start_tile(bf16* tile, const Operand<bf16>& x, int64_t i0, int64_t i_end,
                                           int64_t k0, int64_t k_end) {
  constexpr int kTileRows = kContiguous ? kSpan : kStep;
  constexpr int kChunks = (kContiguous ? kStep : kSpan) / kChunk;
  static_assert(kTileRows * kChunks % kThreads == 0);
#pragma unroll
  for (int n = 0; n < kTileRows * kChunks / kThreads; n++) {
    const int at = n * kThreads + static_cast<int>(threadIdx.x), r = at / kChunks, c = at % kChunks;
    const int64_t row = (kContiguous ? i0 : k0) + r, row_end = kContiguous ? i_end : k_end;
    const int64_t column = (kContiguous ? k0 : i0) + c * kChunk, column_end = kContiguous ? k_end : i_end;
    const bool inside = row < row_end && column < column_end;
    const bf16* from = x.data;
    if (inside) from += (x.rows ? static_cast<int64_t>(x.rows[row]) : row) * x.stride + column;
    async_copy_16(tile + swizzled<kChunks>(r, c) * kChunk, from, inside ? 16 : 0);
  }
}

// The left fragment of rows m0 .. m0+15 and terms k0 .. k0+15 of a tile.
template <bool kContiguous, int kSpan, int kStep>
__device__ __forceinline__ void load_left(uint32_t (&a)[4], const bf16* tile, int m0, int k0) {
  const int matrix = lane_id() / 8, r = lane_id() % 8;
  const int m = m0 + matrix % 2 * 8, k = k0 + matrix / 2 * 8;
  if constexpr (kContiguous) {
    load_matrices_x4<false>(a, tile + swizzled<kStep / kChunk>(m + r, k / kChunk) * kChunk);
  } else {
    load_matrices_x4<true>(a, tile + swizzled<kSpan / kChunk>(k + r, m / kChunk) * kChunk);
  }
}

// The right fragments of columns n0 .. n0+7 (and n0+8 .. n0+15 where kPairs) and terms k0 .. k0+15.
template <bool kContiguous, int kSpan, int kStep, bool kPairs>
__device__ __forceinline__ void load_right(uint32_t* b, const bf16* tile, int n0, int k0) {
  const int matrix = lane_id() / 8 % (kPairs ? 4 : 2), r = lane_id() % 8;
  const int n = n0 + matrix / 2 * 8, k = k0 + matrix % 2 * 8;
  const bf16* row = kContiguous ? tile + swizzled<kStep / kChunk>(n + r, k / kChunk) * kChunk
                                : tile + swizzled<kSpan / kChunk>(k + r, n / kChunk) * kChunk;
  if constexpr (kPairs) {
    uint32_t both[4];
    load_matrices_x4<!kContiguous>(both, row);
#pragma unroll
    for (int i = 0; i < 4; i++) b[i] = both[i];
  } else {
    uint32_t one[2];
    load_matrices_x2<!kContiguous>(one, row);
    b[0] = one[0];
    b[1] = one[1];
  }
}

template <class T, bool kLeftContiguous, bool kRightContiguous>
__global__ void __launch_bounds__(T::kThreads) matmul_bf16_kernel(Product<bf16> p) {
  // Neighbouring blocks share columns of the right operand: groups of kGroup tiles down, then across.
  constexpr int64_t kGroup = 8;
  const int64_t tiles_down = ceil_div<int64_t>(p.M, T::kRows),
                tiles_across = ceil_div<int64_t>(p.N, T::kColumns);
  const int64_t group = blockIdx.x / (kGroup * tiles_across), in_group = blockIdx.x % (kGroup * tiles_across);
  const int64_t group_rows = min(kGroup, tiles_down - group * kGroup);
  const int64_t m0 = (group * kGroup + in_group % group_rows) * T::kRows;
  const int64_t n0 = in_group / group_rows * T::kColumns;
  const int64_t M = p.m_count ? *p.m_count : p.M, K = p.k_count ? *p.k_count : p.K;
  if (m0 >= M) return;

  SKILLGATE_DYNAMIC_SHARED(shared);
  bf16* stages = reinterpret_cast<bf16*>(shared);
  auto left_tile = [&](int64_t step) { return stages + step % T::kStages * T::kStageElements; };
  auto right_tile = [&](int64_t step) { return left_tile(step) + T::kRows * T::kStep; };
  const int64_t steps = ceil_div<int64_t>(K, T::kStep);
  auto start = [&](int64_t step) {
    if (step < steps) {
      const int64_t k0 = step * T::kStep;
      start_tile<kLeftContiguous, T::kRows, T::kStep, T::kThreads>(left_tile(step), p.left, m0, M, k0, K);
      start_tile<kRightContiguous, T::kColumns, T::kStep, T::kThreads>(right_tile(step), p.right, n0, p.N, k0,
                                                                       K);
    }
    async_copy_commit();  // also where there is nothing, so that groups count steps
  };

  constexpr int kDown = T::kWarpRows / 16, kAcross = T::kWarpColumns / 8;
  constexpr bool kPairs = kAcross % 2 == 0;
  const int warp_m = warp_id() % T::kWarpsDown * T::kWarpRows;
  const int warp_n = warp_id() / T::kWarpsDown * T::kWarpColumns;
  float sums[kDown][kAcross][4] = {};
  for (int step = 0; step < T::kStages - 1; step++) start(step);
  for (int64_t step = 0; step < steps; step++) {
    async_copy_wait<T::kStages - 2>();
    // All threads' copies of this step are there, and nobody reads the previous step's tiles any more, which
    // the next copies overwrite.
    __syncthreads();
    start(step + T::kStages - 1);
    const bf16 *left = left_tile(step), *right = right_tile(step);
#pragma unroll
    for (int k = 0; k < T::kStep; k += 16) {
      uint32_t a[kDown][4], b[kAcross][2];
#pragma unroll
      for (int i = 0; i < kDown; i++)
        load_left<kLeftContiguous, T::kRows, T::kStep>(a[i], left, warp_m + 16 * i, k);
#pragma unroll
      for (int j = 0; j < kAcross; j += kPairs ? 2 : 1)
        load_right<kRightContiguous, T::kColumns, T::kStep, kPairs>(b[j], right, warp_n + 8 * j, k);
#pragma unroll
      for (int i = 0; i < kDown; i++)
#pragma unroll
        for (int j = 0; j < kAcross; j++) multiply_add(sums[i][j], a[i], b[j]);
    }
  }

  const int g = lane_id() / 4, t = lane_id() % 4;
#pragma unroll
  for (int i = 0; i < kDown; i++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int64_t m = m0 + warp_m + 16 * i + 8 * half + g;
      if (m >= M) continue;
      float* row = p.out + (p.out_rows ? static_cast<int64_t>(p.out_rows[m]) : m) * p.out_stride;
#pragma unroll
      for (int j = 0; j < kAcross; j++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
          const int64_t n = n0 + warp_n + 8 * j + 2 * t + e;
          if (n >= p.N) continue;
          float value = sums[i][j][2 * half + e];
          if (p.bias) value += p.bias[n];
          row[n] = p.accumulate ? row[n] + value : value;
        }
    }
}

template <class T>
void launch_tiling(Context& context, const Product<bf16>& p) {
  const int64_t blocks = ceil_div<int64_t>(p.M, T::kRows) * ceil_div<int64_t>(p.N, T::kColumns);
  auto launch = [&](auto* kernel) {
    context.launch("matmul_bf16", kernel, dim3(static_cast<unsigned>(blocks)), T::kThreads, T::kSharedBytes,
                   p);
  };
  if (p.left.k_contiguous && p.right.k_contiguous) {
    launch(matmul_bf16_kernel<T, true, true>);
  } else if (p.left.k_contiguous) {
    launch(matmul_bf16_kernel<T, true, false>);
  } else {
    launch(matmul_bf16_kernel<T, false, false>);
  }
}

}  // namespace

void multiply(Context& context, const Product<bf16>& p) {
  if (p.M == 0 || p.N == 0) return;
  const int64_t large_tiles =
      ceil_div<int64_t>(p.M, LargeTiling::kRows) * ceil_div<int64_t>(p.N, LargeTiling::kColumns);
  if (p.M <= FlatTiling::kRows && p.left.k_contiguous && p.right.k_contiguous) {
    const int64_t blocks = ceil_div<int64_t>(p.N, FlatTiling::kColumns);
    context.launch("matmul_bf16", matmul_bf16_kernel<FlatTiling, true, true>,
                   dim3(static_cast<unsigned>(blocks)), FlatTiling::kThreads, FlatTiling::kSharedBytes, p);
  } else if (large_tiles >= context.device().multiprocessors) {
    launch_tiling<LargeTiling>(context, p);
  } else {
    launch_tiling<MediumTiling>(context, p);
  }
}

}  // namespace skillgate::cuda
