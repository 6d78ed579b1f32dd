// Attention forward on the tensor cores: a block owns 64 packed query rows, a warp 16 of them, and walks the
// keys in blocks of 64 from the segment's first key on, with a running maximum and sum. The order of the sums
// of a row depends on the row's own keys alone.
#include "cuda/attention_tiles.cuh"

namespace skillgate::cuda {
namespace {

constexpr int kKeys = 64;

template <int kWidth>
__global__ void __launch_bounds__(kAttentionThreads) attention_forward_bf16_kernel(AttentionArgs a) {
  SKILLGATE_DYNAMIC_SHARED(shared);
  bf16* q_tile = reinterpret_cast<bf16*>(shared);
  bf16* k_tile = q_tile + kTileRows * kTileStride<kWidth>;
  bf16* v_tile = k_tile + kKeys * kTileStride<kWidth>;
  const QueryTile tile = a.query_tiles[blockIdx.x];
  const int64_t g = blockIdx.y;
  const PackedRows rows(a, tile.query_row, tile.queries, tile.keys, g);
  const int64_t M = rows.count();
  load_tile<kWidth, kTileRows>(
      q_tile, a.E, [&](int r) { return tile.m0 + r < M ? a.q + rows.head(tile.m0 + r) * a.E : nullptr; });

  const int lane_row = lane_id() / 4, lane_column = lane_id() % 4 * 2;
  const float scale2 = a.scale * kLog2E;  // exponents are base 2
  int64_t visible[2];
  float maximum[2] = {-INFINITY, -INFINITY}, total[2] = {0.f, 0.f};
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int64_t m = tile.m0 + warp_id() * 16 + 8 * half + lane_row;
    visible[half] = m < M ? rows.visible(m) : 0;
  }
  const int64_t most_visible = rows.visible(min(tile.m0 + kTileRows, M) - 1);
  float o[kWidth / 8][4] = {};
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

    float s[kKeys / 8][4] = {};
    multiply_rows<kWidth, kKeys>(s, q_tile, warp_id() * 16, k_tile);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float larger = maximum[half];
#pragma unroll
      for (int j = 0; j < kKeys / 8; j++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
          float& x = s[j][2 * half + e];
          if (j0 + 8 * j + lane_column + e >= visible[half]) x = -INFINITY;
          larger = fmaxf(larger, x);
        }
      larger = row_max(larger);
      const float origin = larger == -INFINITY ? 0.f : larger;  // rows past the end see nothing
      const float shrink = exp2f((maximum[half] - origin) * scale2);
      maximum[half] = larger;
      total[half] *= shrink;
#pragma unroll
      for (int j = 0; j < kKeys / 8; j++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
          float& x = s[j][2 * half + e];
          x = exp2f((x - origin) * scale2);
          total[half] += x;
        }
#pragma unroll
      for (int j = 0; j < kWidth / 8; j++) {
        o[j][2 * half] *= shrink;
        o[j][2 * half + 1] *= shrink;
      }
    }
    multiply_weights<kWidth, kKeys, kWidth>(o, s, v_tile, 0);
  }

#pragma unroll
  for (int half = 0; half < 2; half++) {
    const float sum = row_sum(total[half]);
    const int64_t m = tile.m0 + warp_id() * 16 + 8 * half + lane_row;
    if (m >= M) continue;
    const int64_t head = rows.head(m);
#pragma unroll
    for (int j = 0; j < kWidth / 8; j++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int column = 8 * j + lane_column + e;
        if (column < a.E) a.o[head * a.E + column] = o[j][2 * half + e] / sum;
      }
    if (lane_column == 0) a.lse[head] = maximum[half] * a.scale + logf(sum);
  }
}

}  // namespace

void attention_forward_bf16(Context& context, const AttentionArgs& a) {
  const dim3 blocks(static_cast<unsigned>(a.query_tile_count), static_cast<unsigned>(a.G));
  with_width(a.E, [&](auto width) {
    context.launch("attention_forward_bf16", attention_forward_bf16_kernel<width.value>, blocks,
                   kAttentionThreads, tile_bytes<width.value>(kTileRows + 2 * kKeys), a);
  });
}

}  // namespace skillgate::cuda
