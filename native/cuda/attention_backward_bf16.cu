// Attention backward on the tensor cores. With p = exp(scale * q.k - lse) and ds = scale * p * (d_o.v -
// delta):
//   dq = sum over keys of ds * k         blocks own query rows, as in the forward pass
//   dv = sum over rows of p * d_o, dk = sum over rows of ds * q     blocks own key/value rows and walk the
//   query rows of every segment that sees them, in order: each sum has one owner and one order
#include <climits>

#include "cuda/attention_tiles.cuh"

namespace skillgate::cuda {
namespace {

// Keys a block of dq, fewer where a row's sums take most registers.
template <int kWidth>
constexpr int kDqKeys = kWidth > 128 ? 32 : 64;

template <int kWidth>
__global__ void __launch_bounds__(kAttentionThreads) attention_dq_bf16_kernel(AttentionArgs a) {
  constexpr int kKeys = kDqKeys<kWidth>;
  SKILLGATE_DYNAMIC_SHARED(shared);
  bf16* q_tile = reinterpret_cast<bf16*>(shared);
  bf16* d_o_tile = q_tile + kTileRows * kTileStride<kWidth>;
  bf16* k_tile = d_o_tile + kTileRows * kTileStride<kWidth>;
  bf16* v_tile = k_tile + kKeys * kTileStride<kWidth>;
  const QueryTile tile = a.query_tiles[blockIdx.x];
  const int64_t g = blockIdx.y;
  const PackedRows rows(a, tile.query_row, tile.queries, tile.keys, g);
  const int64_t M = rows.count();
  auto row_of = [&](const float* x) {
    return [&, x](int r) { return tile.m0 + r < M ? x + rows.head(tile.m0 + r) * a.E : nullptr; };
  };
  load_tile<kWidth, kTileRows>(q_tile, a.E, row_of(a.q));
  load_tile<kWidth, kTileRows>(d_o_tile, a.E, row_of(a.d_o));

  const int lane_row = lane_id() / 4, lane_column = lane_id() % 4 * 2;
  const float scale2 = a.scale * kLog2E;
  int64_t visible[2];
  float lse2[2], delta[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int64_t m = tile.m0 + warp_id() * 16 + 8 * half + lane_row;
    visible[half] = m < M ? rows.visible(m) : 0;
    lse2[half] = m < M ? a.lse[rows.head(m)] * kLog2E : 0.f;
    delta[half] = m < M ? a.delta[rows.head(m)] : 0.f;
  }
  const int64_t most_visible = rows.visible(min(tile.m0 + kTileRows, M) - 1);
  float dq[kWidth / 8][4] = {};
  for (int64_t j0 = 0; j0 < most_visible; j0 += kKeys) {
    __syncthreads();  // nobody reads the previous keys and values any more
    auto key_row = [&](int r) {
      return (static_cast<int64_t>(a.key_rows[tile.key_begin + j0 + r]) * a.G + g) * a.E;
    };
    load_tile<kWidth, kKeys>(k_tile, a.E,
                             [&](int r) { return j0 + r < most_visible ? a.k + key_row(r) : nullptr; });
    load_tile<kWidth, kKeys>(v_tile, a.E,
                             [&](int r) { return j0 + r < most_visible ? a.v + key_row(r) : nullptr; });
    __syncthreads();  // the tiles are complete

    float s[kKeys / 8][4] = {}, dp[kKeys / 8][4] = {};
    multiply_rows<kWidth, kKeys>(s, q_tile, warp_id() * 16, k_tile);
    multiply_rows<kWidth, kKeys>(dp, d_o_tile, warp_id() * 16, v_tile);
#pragma unroll
    for (int j = 0; j < kKeys / 8; j++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int half = i / 2;
        const bool seen = j0 + 8 * j + lane_column + i % 2 < visible[half];
        const float p = exp2f(s[j][i] * scale2 - lse2[half]);
        s[j][i] = seen ? p * (dp[j][i] - delta[half]) * a.scale : 0.f;
      }
    multiply_weights<kWidth, kKeys, kWidth>(dq, s, k_tile, 0);
  }

#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int64_t m = tile.m0 + warp_id() * 16 + 8 * half + lane_row;
    if (m >= M) continue;
    float* row = a.dq + rows.head(m) * a.E;
#pragma unroll
    for (int j = 0; j < kWidth / 8; j++)
#pragma unroll
      for (int e = 0; e < 2; e++)
        if (8 * j + lane_column + e < a.E) row[8 * j + lane_column + e] = dq[j][2 * half + e];
  }
}

// Packed query rows at a time.
template <int kWidth>
constexpr int kDkvQueries = kWidth == 128 ? 16 : 32;
// Elements of dk and dv that a block computes: all of a row's do not fit the registers of wide heads.
template <int kWidth>
constexpr int kDkvOut = kWidth > 128 ? 64 : kWidth;

template <int kWidth>
__global__ void __launch_bounds__(kAttentionThreads) attention_dkv_bf16_kernel(AttentionArgs a) {
  constexpr int kOut = kDkvOut<kWidth>, kQueries = kDkvQueries<kWidth>;
  SKILLGATE_DYNAMIC_SHARED(shared);
  SKILLGATE_SHARED(float, lse2, [kQueries]);
  SKILLGATE_SHARED(float, delta, [kQueries]);
  SKILLGATE_SHARED(int, visible, [kQueries]);  // a segment has fewer than 2^31 keys
  bf16* k_tile = reinterpret_cast<bf16*>(shared);
  bf16* v_tile = k_tile + kTileRows * kTileStride<kWidth>;
  bf16* q_tile = v_tile + kTileRows * kTileStride<kWidth>;
  bf16* d_o_tile = q_tile + kQueries * kTileStride<kWidth>;
  const KeyTile tile = a.key_tiles[blockIdx.x];
  const int64_t g = blockIdx.y, group = a.group();
  const int first = static_cast<int>(blockIdx.z) * kOut;
  auto key_row_of = [&](const float* x) {
    return [&, x](int r) {
      return tile.first_row + r < a.rows ? x + ((tile.first_row + r) * a.G + g) * a.E : nullptr;
    };
  };
  load_tile<kWidth, kTileRows>(k_tile, a.E, key_row_of(a.k));
  load_tile<kWidth, kTileRows>(v_tile, a.E, key_row_of(a.v));

  const int lane_row = lane_id() / 4, lane_column = lane_id() % 4 * 2;
  const float scale2 = a.scale * kLog2E;
  float dk[kOut / 8][4] = {}, dv[kOut / 8][4] = {};
  for (int64_t at = tile.item_begin; at < tile.item_end; at++) {
    const KeyItem item = a.key_items[at];
    const PackedRows rows(a, item.query_row, item.queries, item.keys, g);
    const int64_t M = rows.count();
    int position[2];  // of the lane's two keys; none where the row is not in the item
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int64_t r = tile.first_row + warp_id() * 16 + 8 * half + lane_row;
      position[half] = r >= item.row_begin && r < item.row_end
                           ? static_cast<int>(item.position + r - item.row_begin)
                           : INT_MAX;
    }
    const int64_t first_query = max(item.position - (item.keys - item.queries), int64_t{0});
    for (int64_t m0 = first_query * group / kQueries * kQueries; m0 < M; m0 += kQueries) {
      __syncthreads();  // nobody reads the previous query rows any more
      auto row_of = [&](const float* x) {
        return [&, x](int r) { return m0 + r < M ? x + rows.head(m0 + r) * a.E : nullptr; };
      };
      load_tile<kWidth, kQueries>(q_tile, a.E, row_of(a.q));
      load_tile<kWidth, kQueries>(d_o_tile, a.E, row_of(a.d_o));
      if (threadIdx.x < kQueries) {
        const int64_t m = m0 + threadIdx.x;
        lse2[threadIdx.x] = m < M ? a.lse[rows.head(m)] * kLog2E : 0.f;
        delta[threadIdx.x] = m < M ? a.delta[rows.head(m)] : 0.f;
        visible[threadIdx.x] = m < M ? static_cast<int>(rows.visible(m)) : 0;
      }
      __syncthreads();  // the tiles are complete

      float p[kQueries / 8][4] = {}, ds[kQueries / 8][4] = {};
      multiply_rows<kWidth, kQueries>(p, k_tile, warp_id() * 16, q_tile);
      multiply_rows<kWidth, kQueries>(ds, v_tile, warp_id() * 16, d_o_tile);
#pragma unroll
      for (int j = 0; j < kQueries / 8; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int column = 8 * j + lane_column + i % 2;
          const bool seen = position[i / 2] < visible[column];
          const float weight = seen ? exp2f(p[j][i] * scale2 - lse2[column]) : 0.f;
          p[j][i] = weight;
          ds[j][i] = seen ? weight * (ds[j][i] - delta[column]) * a.scale : 0.f;
        }
      multiply_weights<kWidth, kQueries, kOut>(dv, p, d_o_tile, first);
      multiply_weights<kWidth, kQueries, kOut>(dk, ds, q_tile, first);
    }
  }

#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int64_t r = tile.first_row + warp_id() * 16 + 8 * half + lane_row;
    if (r >= a.rows) continue;
    const int64_t row = (r * a.G + g) * a.E;
#pragma unroll
    for (int j = 0; j < kOut / 8; j++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int column = first + 8 * j + lane_column + e;
        if (column >= a.E) continue;
        a.dk[row + column] += dk[j][2 * half + e];
        a.dv[row + column] += dv[j][2 * half + e];
      }
  }
}

}  // namespace

void attention_backward_bf16(Context& context, const AttentionArgs& a) {
  const auto heads = static_cast<unsigned>(a.G);
  with_width(a.E, [&](auto width) {
    constexpr int kWidth = width.value;
    context.launch("attention_dq_bf16", attention_dq_bf16_kernel<kWidth>,
                   dim3(static_cast<unsigned>(a.query_tile_count), heads), kAttentionThreads,
                   tile_bytes<kWidth>(2 * kTileRows + 2 * kDqKeys<kWidth>), a);
    context.launch("attention_dkv_bf16", attention_dkv_bf16_kernel<kWidth>,
                   dim3(static_cast<unsigned>(a.key_tile_count), heads, kWidth / kDkvOut<kWidth>),
                   kAttentionThreads, tile_bytes<kWidth>(2 * kTileRows + 2 * kDkvQueries<kWidth>), a);
  });
}

}  // namespace skillgate::cuda
