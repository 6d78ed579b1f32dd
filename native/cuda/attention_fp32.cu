// Attention in fp32, for checking: a warp works on one row at a time, its lanes first on 32 partners of the
// row (scores), then on the row's elements (sums over the partners).
#include "cuda/attention.h"
#include "cuda/reduce.cuh"

namespace skillgate::cuda {
namespace {

constexpr int kWarps = 4, kThreads = kWarps * kWarp;
constexpr int kEach = kMostHeadWidth / kWarp;  // elements of a row that a lane sums

// A warp's 32 partners: their weights in the two sums, and which rows they are.
struct Partners {
  float first[kWarp], second[kWarp];
  int64_t row[kWarp];
};

__device__ __forceinline__ double dot(const float* a, const float* b, int64_t E) {
  double sum = 0;
  for (int64_t e = 0; e < E; e++) sum += static_cast<double>(a[e]) * b[e];
  return sum;
}

// sum[i] += weight of partner j * element lane + 32 i of its row of x, over n partners
__device__ __forceinline__ void add_partners(double (&sum)[kEach], const float* weights, const int64_t* rows,
                                             int n, const float* x, int64_t E) {
  for (int j = 0; j < n; j++)
#pragma unroll
    for (int i = 0; i < kEach; i++)
      if (lane_id() + i * kWarp < E)
        sum[i] += static_cast<double>(weights[j]) * x[rows[j] * E + lane_id() + i * kWarp];
}

__device__ __forceinline__ void add_to(float& x, double more) {
  x = static_cast<float>(x + more);
}

// One packed row of a tile.
struct QueryRow {
  int64_t head;     // t * H + h: rows of q, o, lse
  int64_t visible;  // keys
  __device__ QueryRow(const AttentionArgs& a, const QueryTile& tile, int64_t g, int64_t m) {
    const int64_t i = m / a.group();
    head = (tile.query_row + i) * a.H + g * a.group() + m % a.group();
    visible = tile.keys - tile.queries + i + 1;
  }
};

// Said how many blocks a multiprocessor runs, the compiler for sm_80 spills none of the sums.
__global__ void __launch_bounds__(kThreads, 4) attention_forward_fp32_kernel(AttentionArgs a) {
  SKILLGATE_SHARED(Partners, shared, [kWarps]);
  Partners& mine = shared[warp_id()];
  const QueryTile tile = a.query_tiles[blockIdx.x];
  const int64_t g = blockIdx.y, m_end = min(tile.m0 + kTileRows, tile.queries * a.group());
  for (int64_t m = tile.m0 + warp_id(); m < m_end; m += kWarps) {
    const QueryRow row(a, tile, g, m);
    const float* q = a.q + row.head * a.E;
    float maximum = -INFINITY;
    double total = 0, sum[kEach] = {};
    for (int64_t j0 = 0; j0 < row.visible; j0 += kWarp) {
      const int n = static_cast<int>(min(row.visible - j0, int64_t{kWarp}));
      float score = -INFINITY;
      if (lane_id() < n) {
        const int64_t key = static_cast<int64_t>(a.key_rows[tile.key_begin + j0 + lane_id()]) * a.G + g;
        score = static_cast<float>(dot(q, a.k + key * a.E, a.E) * a.scale);
        mine.row[lane_id()] = key;
      }
      const float larger = fmaxf(maximum, warp_max(score)), shrink = expf(maximum - larger);
      const float p = expf(score - larger);
      maximum = larger;
      total = total * shrink + warp_sum(static_cast<double>(p));
      mine.first[lane_id()] = p;
#pragma unroll
      for (int i = 0; i < kEach; i++) sum[i] *= shrink;
      __syncwarp();  // all partners are there
      add_partners(sum, mine.first, mine.row, n, a.v, a.E);
      __syncwarp();  // before the next ones take their place
    }
    const double share = 1 / total;
#pragma unroll
    for (int i = 0; i < kEach; i++)
      if (lane_id() + i * kWarp < a.E)
        a.o[row.head * a.E + lane_id() + i * kWarp] = static_cast<float>(sum[i] * share);
    if (lane_id() == 0) a.lse[row.head] = static_cast<float>(maximum + log(total));
  }
}

__global__ void __launch_bounds__(kThreads) attention_dq_fp32_kernel(AttentionArgs a) {
  SKILLGATE_SHARED(Partners, shared, [kWarps]);
  Partners& mine = shared[warp_id()];
  const QueryTile tile = a.query_tiles[blockIdx.x];
  const int64_t g = blockIdx.y, m_end = min(tile.m0 + kTileRows, tile.queries * a.group());
  for (int64_t m = tile.m0 + warp_id(); m < m_end; m += kWarps) {
    const QueryRow row(a, tile, g, m);
    const float *q = a.q + row.head * a.E, *d_o = a.d_o + row.head * a.E;
    const float lse = a.lse[row.head], delta = a.delta[row.head];
    double sum[kEach] = {};
    for (int64_t j0 = 0; j0 < row.visible; j0 += kWarp) {
      const int n = static_cast<int>(min(row.visible - j0, int64_t{kWarp}));
      if (lane_id() < n) {
        const int64_t key = static_cast<int64_t>(a.key_rows[tile.key_begin + j0 + lane_id()]) * a.G + g;
        const float p = expf(static_cast<float>(dot(q, a.k + key * a.E, a.E) * a.scale - lse));
        mine.first[lane_id()] = static_cast<float>(p * (dot(d_o, a.v + key * a.E, a.E) - delta) * a.scale);
        mine.row[lane_id()] = key;
      }
      __syncwarp();  // all partners are there
      add_partners(sum, mine.first, mine.row, n, a.k, a.E);
      __syncwarp();  // before the next ones take their place
    }
#pragma unroll
    for (int i = 0; i < kEach; i++)
      if (lane_id() + i * kWarp < a.E)
        a.dq[row.head * a.E + lane_id() + i * kWarp] = static_cast<float>(sum[i]);
  }
}

// A warp owns a key/value row; its partners are the packed rows of every segment that sees it, in order.
__global__ void __launch_bounds__(kThreads) attention_dkv_fp32_kernel(AttentionArgs a) {
  SKILLGATE_SHARED(Partners, shared, [kWarps]);
  Partners& mine = shared[warp_id()];
  const KeyTile tile = a.key_tiles[blockIdx.x];
  const int64_t g = blockIdx.y, group = a.group();
  for (int64_t r = tile.first_row + warp_id(); r < min(tile.first_row + kTileRows, a.rows); r += kWarps) {
    const int64_t key = r * a.G + g;
    const float *k = a.k + key * a.E, *v = a.v + key * a.E;
    double dk[kEach] = {}, dv[kEach] = {};
    for (int64_t at = tile.item_begin; at < tile.item_end; at++) {
      const KeyItem item = a.key_items[at];
      if (r < item.row_begin || r >= item.row_end) continue;
      const int64_t first_query =
          max(item.position + (r - item.row_begin) - (item.keys - item.queries), int64_t{0});
      for (int64_t m0 = first_query * group; m0 < item.queries * group; m0 += kWarp) {
        const int n = static_cast<int>(min(item.queries * group - m0, int64_t{kWarp}));
        if (lane_id() < n) {
          const int64_t m = m0 + lane_id(), head = (item.query_row + m / group) * a.H + g * group + m % group;
          const float p = expf(static_cast<float>(dot(a.q + head * a.E, k, a.E) * a.scale - a.lse[head]));
          mine.first[lane_id()] = p;
          mine.second[lane_id()] =
              static_cast<float>(p * (dot(a.d_o + head * a.E, v, a.E) - a.delta[head]) * a.scale);
          mine.row[lane_id()] = head;
        }
        __syncwarp();  // all partners are there
        add_partners(dv, mine.first, mine.row, n, a.d_o, a.E);
        add_partners(dk, mine.second, mine.row, n, a.q, a.E);
        __syncwarp();  // before the next ones take their place
      }
    }
#pragma unroll
    for (int i = 0; i < kEach; i++)
      if (lane_id() + i * kWarp < a.E) {
        add_to(a.dk[key * a.E + lane_id() + i * kWarp], dk[i]);
        add_to(a.dv[key * a.E + lane_id() + i * kWarp], dv[i]);
      }
  }
}

dim3 blocks(int64_t tiles, const AttentionArgs& a) {
  return dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(a.G));
}

}  // namespace

void attention_forward_fp32(Context& context, const AttentionArgs& a) {
  context.launch("attention_forward_fp32", attention_forward_fp32_kernel, blocks(a.query_tile_count, a),
                 kThreads, 0, a);
}

void attention_backward_fp32(Context& context, const AttentionArgs& a) {
  context.launch("attention_dq_fp32", attention_dq_fp32_kernel, blocks(a.query_tile_count, a), kThreads, 0,
                 a);
  context.launch("attention_dkv_fp32", attention_dkv_fp32_kernel, blocks(a.key_tile_count, a), kThreads, 0,
                 a);
}

}  // namespace skillgate::cuda
