// Softmax over one row of logits, shared by the loss and by sampling, so that a token has the same logprob in
// both. A row is one block's, or is cut over the blocks of a cluster where it does not fit one block's shared
// memory; each logit is then read from memory once.
#pragma once
#include <algorithm>

#include "cuda/cluster.cuh"
#include "cuda/cuda_context.h"
#include "cuda/reduce.cuh"

namespace skillgate::cuda {

// How rows of V logits are cut; depends on V and the device alone.
struct RowPlan {
  int64_t V = 0;
  int threads = 0;       // a block, whole warps
  unsigned cluster = 1;  // blocks a row
  int64_t slice = 0;     // logits a block, a multiple of 8
  int64_t cached = 0;    // of them in shared memory, a multiple of 4 * threads or all
  size_t shared_bytes() const { return static_cast<size_t>(cached) * sizeof(float); }

  static RowPlan make(const DeviceInfo& device, int64_t V) {
    constexpr int64_t kReserve = 2 << 10, kMostBlocks = 8;  // bytes of other variables; a portable cluster
    const int64_t capacity =
        (static_cast<int64_t>(device.shared_memory) - kReserve) / static_cast<int64_t>(sizeof(float));
    RowPlan p;
    p.V = V;
    // Four loads of four logits a thread, where there are enough of them.
    p.threads = static_cast<int>(
        std::clamp<int64_t>(round_up<int64_t>(ceil_div<int64_t>(V, 16), kWarp), kWarp, 1024));
    const bool clusters = device.major >= 9;
    while (clusters && p.cluster < kMostBlocks && ceil_div<int64_t>(V, p.cluster) > capacity) p.cluster *= 2;
    // Blocks of a cluster write gradients where others' logits lay: only where every block keeps its own.
    if (round_up<int64_t>(ceil_div<int64_t>(V, p.cluster), 8) > capacity) p.cluster = 1;
    p.slice = round_up<int64_t>(ceil_div<int64_t>(V, p.cluster), 8);
    const int64_t round = 4 * p.threads;
    p.cached = p.slice <= capacity ? p.slice : capacity / round * round;
    return p;
  }
};

struct RowSoftmax {
  float maximum;   // of the logits
  float sum;       // of e = exp((x - maximum) / temperature)
  float weighted;  // of e * (x - maximum) / temperature

  __device__ float logprob(float x, float inverse_temperature) const {
    return (x - maximum) * inverse_temperature - logf(sum);
  }
  __device__ float entropy() const { return logf(sum) - weighted / sum; }
};

__device__ __forceinline__ float minus_infinity() {
  return __uint_as_float(0xFF800000u);
}

// exp(d / temperature) for d = x - maximum.
__device__ __forceinline__ float weight_of(float d, float inverse_temperature) {
  return expf(d * inverse_temperature);
}

__device__ __forceinline__ RowSoftmax from_lane_xor(RowSoftmax x, int distance) {
  return {from_lane_xor(x.maximum, distance), from_lane_xor(x.sum, distance),
          from_lane_xor(x.weighted, distance)};
}

// Brings the sums to a larger maximum. Nothing is there yet where the old one is -inf.
__device__ __forceinline__ void raise_maximum(RowSoftmax& s, float maximum, float inverse_temperature) {
  const float d = s.maximum - maximum;
  if (s.sum != 0.f) {
    const float factor = weight_of(d, inverse_temperature);
    s.weighted = factor * (s.weighted + s.sum * d * inverse_temperature);
    s.sum *= factor;
  }
  s.maximum = maximum;
}

struct CombineSoftmax {
  float inverse_temperature;
  __device__ RowSoftmax operator()(RowSoftmax a, RowSoftmax b) const {
    const float maximum = fmaxf(a.maximum, b.maximum);
    if (maximum != a.maximum) raise_maximum(a, maximum, inverse_temperature);
    if (maximum != b.maximum) raise_maximum(b, maximum, inverse_temperature);
    return {maximum, a.sum + b.sum, a.weighted + b.weighted};
  }
};

// Four logits of a slice of n from `at`; -inf beyond n. The caller says whether rows are aligned to 16 bytes.
__device__ __forceinline__ float4 load_four(const float* slice, int64_t at, int64_t n, bool aligned) {
  if (aligned && at + 4 <= n) return *reinterpret_cast<const float4*>(slice + at);
  float x[4];
#pragma unroll
  for (int i = 0; i < 4; i++) x[i] = at + i < n ? slice[at + i] : minus_infinity();
  return make_float4(x[0], x[1], x[2], x[3]);
}

__device__ __forceinline__ void take_in(RowSoftmax& s, float x, float inverse_temperature) {
  const float d = x - s.maximum, e = weight_of(d, inverse_temperature);
  s.sum += e;
  s.weighted = fmaf(e, fmaxf(d * inverse_temperature, -200.f), s.weighted);  // e is 0 there: 0 * log 0 = 0
}

// The softmax of the whole row, in every thread of every block of its cluster; the first `cached` logits of
// the block's slice [n] are left in `cache`. All threads of the cluster call it.
__device__ __forceinline__ RowSoftmax row_softmax(const RowPlan& plan, const float* slice, int64_t n,
                                                  bool aligned, float inverse_temperature, float* cache) {
  SKILLGATE_SHARED(RowSoftmax, slots, [kWarp]);
  SKILLGATE_SHARED(RowSoftmax, part, [1]);
  RowSoftmax s{minus_infinity(), 0.f, 0.f};
  for (int64_t at = 4 * static_cast<int64_t>(threadIdx.x); at < n;
       at += 4 * static_cast<int64_t>(blockDim.x)) {
    const float4 x = load_four(slice, at, n, aligned);
    if (at < plan.cached) *reinterpret_cast<float4*>(cache + at) = x;
    const float maximum = fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
    if (maximum == minus_infinity()) continue;
    if (maximum > s.maximum) raise_maximum(s, maximum, inverse_temperature);
    take_in(s, x.x, inverse_temperature);
    take_in(s, x.y, inverse_temperature);
    take_in(s, x.z, inverse_temperature);
    take_in(s, x.w, inverse_temperature);
  }
  const CombineSoftmax combine{inverse_temperature};
  s = block_reduce(s, slots, combine);
  const unsigned blocks = cluster_size();
  if (blocks == 1) return s;
  if (threadIdx.x == 0) part[0] = s;
  cluster_sync();  // every block's part is there, and every block has read its logits
  s = *cluster_peer(part, 0);
  for (unsigned rank = 1; rank < blocks; rank++) s = combine(s, *cluster_peer(part, rank));
  cluster_sync();  // nobody reads another block's memory any more: it may end
  return s;
}

}  // namespace skillgate::cuda
