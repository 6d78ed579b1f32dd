// Pieces of the tensor-core attention kernels: tiles of rows in shared memory, products of a warp's 16 rows
// with them. A tile is [rows][kWidth + 8] bf16: the 8 spread rows that are read together over the banks.
// kWidth is E rounded up to 32, 64, 128 or 256; what lies beyond E, or beyond the rows there are, is 0.
#pragma once
#include "cuda/attention.h"
#include "cuda/tensor_core.cuh"

namespace skillgate::cuda {

constexpr int kAttentionThreads = 128;
static_assert(kTileRows == kAttentionThreads / kWarp * 16);  // 16 rows a warp

template <int kWidth>
constexpr int kTileStride = kWidth + 8;
template <int kWidth>
constexpr size_t tile_bytes(int rows) {
  return sizeof(bf16) * static_cast<size_t>(rows) * kTileStride<kWidth>;
}

// Fills a tile with rows of fp32; source(r) is where row r starts, or null.
template <int kWidth, int kRows, class Source>
__device__ __forceinline__ void load_tile(bf16* tile, int64_t E, Source source) {
  constexpr int kFours = kWidth / 4;
#pragma unroll 4
  for (int n = 0; n < kRows * kFours / kAttentionThreads; n++) {
    const int at = n * kAttentionThreads + static_cast<int>(threadIdx.x), r = at / kFours,
              e = at % kFours * 4;
    const float* row = source(r);
    float4 x = make_float4(0.f, 0.f, 0.f, 0.f);
    if (row && e < E) {
      if (E % 4 == 0) {
        x = *reinterpret_cast<const float4*>(row + e);
      } else {
        x.x = row[e];
        if (e + 1 < E) x.y = row[e + 1];
        if (e + 2 < E) x.z = row[e + 2];
        if (e + 3 < E) x.w = row[e + 3];
      }
    }
    *reinterpret_cast<uint2*>(tile + r * kTileStride<kWidth> + e) =
        make_uint2(pack_bf16(x.x, x.y), pack_bf16(x.z, x.w));
  }
}

// The left fragment of rows m0 .. m0+15, elements k0 .. k0+15.
template <int kWidth>
__device__ __forceinline__ void left_fragment(uint32_t (&a)[4], const bf16* tile, int m0, int k0) {
  const int matrix = lane_id() / 8, r = lane_id() % 8;
  load_matrices_x4<false>(a, tile + (m0 + matrix % 2 * 8 + r) * kTileStride<kWidth> + k0 + matrix / 2 * 8);
}

// sums [16, kColumns] += 16 rows of `left` from m0 . (kColumns rows of `right`)^T, over all elements.
template <int kWidth, int kColumns>
__device__ __forceinline__ void multiply_rows(float (&sums)[kColumns / 8][4], const bf16* left, int m0,
                                              const bf16* right) {
  const int matrix = lane_id() / 8, r = lane_id() % 8;
#pragma unroll
  for (int k = 0; k < kWidth; k += 16) {
    uint32_t a[4];
    left_fragment<kWidth>(a, left, m0, k);
#pragma unroll
    for (int j = 0; j < kColumns / 16; j++) {
      uint32_t b[4];
      load_matrices_x4<false>(
          b, right + (16 * j + matrix / 2 * 8 + r) * kTileStride<kWidth> + k + matrix % 2 * 8);
      const uint32_t low[2] = {b[0], b[1]}, high[2] = {b[2], b[3]};
      multiply_add(sums[2 * j], a, low);
      multiply_add(sums[2 * j + 1], a, high);
    }
  }
}

// sums [16, kOut] += weights [16, kRows], which stand in accumulator fragments, . kRows rows of `right`,
// elements from `first`.
template <int kWidth, int kRows, int kOut>
__device__ __forceinline__ void multiply_weights(float (&sums)[kOut / 8][4],
                                                 const float (&weights)[kRows / 8][4], const bf16* right,
                                                 int first) {
  const int matrix = lane_id() / 8, r = lane_id() % 8;
#pragma unroll
  for (int k = 0; k < kRows; k += 16) {
    const float(&w0)[4] = weights[k / 8], (&w1)[4] = weights[k / 8 + 1];
    const uint32_t a[4] = {pack_bf16(w0[0], w0[1]), pack_bf16(w0[2], w0[3]), pack_bf16(w1[0], w1[1]),
                           pack_bf16(w1[2], w1[3])};
#pragma unroll
    for (int j = 0; j < kOut / 16; j++) {
      uint32_t b[4];
      load_matrices_x4<true>(
          b, right + (k + matrix % 2 * 8 + r) * kTileStride<kWidth> + first + 16 * j + matrix / 2 * 8);
      const uint32_t low[2] = {b[0], b[1]}, high[2] = {b[2], b[3]};
      multiply_add(sums[2 * j], a, low);
      multiply_add(sums[2 * j + 1], a, high);
    }
  }
}

// The packed query rows of one segment for one key/value head.
struct PackedRows {
  int64_t query_row, queries, keys, H, first_head, group;
  __device__ PackedRows(const AttentionArgs& a, int64_t query_row_, int64_t queries_, int64_t keys_,
                        int64_t g)
      : query_row(query_row_),
        queries(queries_),
        keys(keys_),
        H(a.H),
        first_head(g * a.group()),
        group(a.group()) {}
  __device__ int64_t count() const { return queries * group; }
  // t * H + h
  __device__ int64_t head(int64_t m) const { return (query_row + m / group) * H + first_head + m % group; }
  __device__ int64_t visible(int64_t m) const { return keys - queries + m / group + 1; }
};

// Sums and maxima over the four lanes that share a row of accumulator fragments.
__device__ __forceinline__ float row_sum(float x) {
  x += __shfl_xor_sync(kAllLanes, x, 1);
  return x + __shfl_xor_sync(kAllLanes, x, 2);
}
__device__ __forceinline__ float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, 1));
  return fmaxf(x, __shfl_xor_sync(kAllLanes, x, 2));
}

// Calls body with E's tile width as a constant.
template <class Body>
void with_width(int64_t E, Body body) {
  if (E <= 32) return body(std::integral_constant<int, 32>{});
  if (E <= 64) return body(std::integral_constant<int, 64>{});
  if (E <= 128) return body(std::integral_constant<int, 128>{});
  return body(std::integral_constant<int, 256>{});
}

}  // namespace skillgate::cuda
