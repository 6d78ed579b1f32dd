// One token a row: top-k, then top-p of what is left, then min-p, then the inverse of the cumulative weight
// in order of id. Weights are summed as whole numbers, so that sums do not depend on their order and may use
// atomics; nothing is sorted, the thresholds are found digit by digit.
#include <cmath>
#include <vector>

#include "cuda/ops.h"
#include "cuda/philox.cuh"
#include "cuda/softmax_row.cuh"

namespace skillgate::cuda {
namespace {

constexpr int kMostThreads = 1024, kMostWarps = kMostThreads / kWarp;
constexpr int kDigits = 256, kDigitBits = 8;
constexpr float kUnit = 274877906944.f;  // 2^38 for a weight of 1: sums of 2^25 of them fit 64 bits

using Mass = unsigned long long;

__global__ void __launch_bounds__(kMostThreads)
    softmax_stats_kernel(RowSoftmax* stats, const float* logits, RowPlan plan, const SampleOptions* options) {
  SKILLGATE_DYNAMIC_SHARED(shared);
  const int64_t r = blockIdx.x / cluster_size(), begin = cluster_rank() * plan.slice;
  const int64_t n = min(plan.slice, plan.V - begin);
  const float t = options[r].temperature, inverse_temperature = 1.f / (t > 0.f ? t : 1.f);
  const RowSoftmax s = row_softmax(plan, logits + r * plan.V + begin, n, false, inverse_temperature,
                                   reinterpret_cast<float*>(shared));
  if (threadIdx.x == 0 && cluster_rank() == 0) stats[r] = s;
}

__device__ __forceinline__ int warps() {
  return static_cast<int>(blockDim.x) / kWarp;
}

// Larger logits have larger keys.
__device__ __forceinline__ uint32_t key_of(float x) {
  const uint32_t bits = __float_as_uint(x);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// The row as the kernel below sees it.
struct Row {
  const float* logits;
  int64_t V;
  RowSoftmax softmax;
  float inverse_temperature;
  __device__ float weight(int64_t i) const {
    return weight_of(logits[i] - softmax.maximum, inverse_temperature);
  }
  __device__ Mass mass(int64_t i) const { return static_cast<Mass>(weight(i) * kUnit); }
};

// Which tokens are kept: keys above `key`, and of those equal to it the first `ties` by id.
struct Limit {
  uint32_t key = 0;
  int64_t ties = INT64_MAX;
  __device__ bool keeps_all() const { return ties == INT64_MAX; }
};

struct Shared {
  Mass bins[kDigits];
  Mass warp_mass[kMostWarps];
  int64_t warp_ties[kMostWarps];
  uint32_t prefix;
  Mass above;
};

// The key at which amounts, added from the largest key down, reach `wanted` (at least 1, at most their sum).
// What lies above the key is left in shared.above.
template <class Amount>
__device__ uint32_t find_key(const Row& row, Shared& shared, Mass wanted, Amount amount) {
  if (threadIdx.x == 0) {
    shared.prefix = 0;
    shared.above = 0;
  }
  for (int shift = 32 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    for (int b = static_cast<int>(threadIdx.x); b < kDigits; b += static_cast<int>(blockDim.x))
      shared.bins[b] = 0;
    __syncthreads();  // empty bins, and the prefix of the digits before
    const uint32_t prefix = shared.prefix;
    const uint32_t known = shift + kDigitBits == 32 ? 0u : ~0u << (shift + kDigitBits);
    for (int64_t i = threadIdx.x; i < row.V; i += blockDim.x) {
      const uint32_t key = key_of(row.logits[i]);
      if ((key & known) == prefix) atomicAdd(&shared.bins[key >> shift & (kDigits - 1)], amount(i));
    }
    __syncthreads();  // the bins are complete
    if (threadIdx.x == 0) {
      Mass above = shared.above;
      int digit = kDigits - 1;
      while (digit > 0 && above + shared.bins[digit] < wanted) above += shared.bins[digit--];
      shared.above = above;
      shared.prefix = prefix | static_cast<uint32_t>(digit) << shift;
    }
    __syncthreads();  // the digit is known, and the bins may be emptied
  }
  return shared.prefix;
}

__device__ __forceinline__ unsigned lanes_below() {
  return (1u << lane_id()) - 1;
}

// The part of the row that a warp walks through, 32 ids at a time.
struct WarpRange {
  int64_t begin, end;
  __device__ explicit WarpRange(int64_t V) {
    const int64_t each = round_up<int64_t>(ceil_div<int64_t>(V, warps()), kWarp);
    begin = min(V, warp_id() * each);
    end = min(V, begin + each);
  }
};

// Walks a warp's range; visit(i, kept, mass) with all lanes, mass 0 where the token is not kept.
template <class Visit>
__device__ __forceinline__ void walk(const Row& row, const Limit& limit, float least_weight,
                                     int64_t ties_before, Visit visit) {
  const WarpRange range(row.V);
  for (int64_t base = range.begin; base < range.end; base += kWarp) {
    const int64_t i = base + lane_id();
    const bool inside = i < range.end;
    bool kept = inside;
    if (!limit.keeps_all()) {  // the same in all lanes
      const uint32_t key = inside ? key_of(row.logits[i]) : 0;
      const bool tie = inside && key == limit.key;
      const unsigned tied = __ballot_sync(kAllLanes, tie);
      kept = inside && (key > limit.key || (tie && ties_before + __popc(tied & lanes_below()) < limit.ties));
      ties_before += __popc(tied);
    }
    kept = kept && row.weight(i) >= least_weight;
    if (!visit(i, kept ? row.mass(i) : Mass{0})) return;
  }
}

__device__ int64_t count_ties_before_warp(const Row& row, Shared& shared, const Limit& limit) {
  if (limit.keeps_all()) return 0;
  const WarpRange range(row.V);
  int64_t ties = 0;
  for (int64_t i = range.begin + lane_id(); i < range.end; i += kWarp)
    ties += key_of(row.logits[i]) == limit.key;
  ties = warp_sum(ties);
  if (lane_id() == 0) shared.warp_ties[warp_id()] = ties;
  __syncthreads();  // every warp's count
  int64_t before = 0;
  for (int w = 0; w < warp_id(); w++) before += shared.warp_ties[w];
  return before;
}

// top-k, and of what it leaves top-p.
__device__ Limit find_limit(const Row& row, Shared& shared, const SampleOptions& o) {
  Limit limit;
  if (o.top_k > 0 && o.top_k < row.V) {
    limit.key = find_key(row, shared, static_cast<Mass>(o.top_k), [](int64_t) { return Mass{1}; });
    limit.ties = o.top_k - static_cast<int64_t>(shared.above);
    __syncthreads();  // before the next search starts over
  }
  if (o.top_p < 1.f) {
    // All of the weight that top-k leaves.
    const int64_t ties_before = count_ties_before_warp(row, shared, limit);
    Mass mass = 0;
    walk(row, limit, 0.f, ties_before, [&](int64_t, Mass m) {
      mass += m;
      return true;
    });
    mass = warp_sum(mass);
    if (lane_id() == 0) shared.warp_mass[warp_id()] = mass;
    __syncthreads();  // every warp's mass is there
    Mass total = 0;
    for (int w = 0; w < warps(); w++) total += shared.warp_mass[w];
    const double share = o.top_p > 0.f ? static_cast<double>(o.top_p) * static_cast<double>(total) : 0.0;
    const Mass wanted = min(max(static_cast<Mass>(ceil(share)), Mass{1}), max(total, Mass{1}));
    const uint32_t key = find_key(row, shared, wanted, [&](int64_t i) { return row.mass(i); });
    const Mass rest = wanted - min(wanted, shared.above);
    // Tokens of one key have one weight.
    const float x = __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
    const Mass each = static_cast<Mass>(weight_of(x - row.softmax.maximum, row.inverse_temperature) * kUnit);
    const auto needed = static_cast<int64_t>(each > 0 ? (rest + each - 1) / each : 1);
    limit = {key, !limit.keeps_all() && key == limit.key ? min(limit.ties, needed) : needed};
    __syncthreads();  // what was found has been read before shared is used again
  }
  return limit;
}

// The largest logit, of the lowest id.
__device__ int32_t most_likely(const Row& row, Shared& shared) {
  Mass best = 0;  // key << 32 | ~id
  for (int64_t i = threadIdx.x; i < row.V; i += blockDim.x)
    best =
        max(best, static_cast<Mass>(key_of(row.logits[i])) << 32 | (0xFFFFFFFFu - static_cast<uint32_t>(i)));
  best = block_reduce(best, shared.warp_mass, [](Mass a, Mass b) { return max(a, b); });
  return static_cast<int32_t>(0xFFFFFFFFu - static_cast<uint32_t>(best & 0xFFFFFFFFu));
}

__device__ __forceinline__ Mass sum_of_lanes_up_to_own(Mass value) {
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const Mass lower = __shfl_up_sync(kAllLanes, value, static_cast<unsigned>(distance));
    if (lane_id() >= distance) value += lower;
  }
  return value;
}

struct Sample {
  int32_t token;
  float logprob;
};

__global__ void __launch_bounds__(kMostThreads)
    draw_kernel(Sample* out, const float* logits, int64_t V, const RowSoftmax* stats,
                const SampleOptions* options) {
  SKILLGATE_SHARED(Shared, shared, [1]);
  SKILLGATE_SHARED(int32_t, drawn, [1]);
  const int64_t r = blockIdx.x;
  const SampleOptions o = options[r];
  const Row row{logits + r * V, V, stats[r], 1.f / (o.temperature > 0.f ? o.temperature : 1.f)};
  auto finish = [&](int32_t token) {
    if (threadIdx.x == 0) out[r] = {token, row.softmax.logprob(row.logits[token], row.inverse_temperature)};
  };
  if (!isfinite(logf(row.softmax.sum)) || !isfinite(row.softmax.maximum)) {
    if (threadIdx.x == 0) out[r] = {0, row.softmax.logprob(row.logits[0], row.inverse_temperature)};
    return;
  }
  if (!(o.temperature > 0.f)) {
    finish(most_likely(row, shared[0]));
    return;
  }

  const Limit limit = find_limit(row, shared[0], o);
  const float least = o.min_p > 0.f ? fminf(o.min_p, 1.f) : 0.f;  // the largest weight is 1
  const int64_t ties_before = count_ties_before_warp(row, shared[0], limit);
  Mass mass = 0;
  walk(row, limit, least, ties_before, [&](int64_t, Mass m) {
    mass += m;
    return true;
  });
  mass = warp_sum(mass);
  if (threadIdx.x == 0) drawn[0] = 0;
  if (lane_id() == 0) shared[0].warp_mass[warp_id()] = mass;
  __syncthreads();  // every warp's mass
  Mass total = 0, before = 0;
  for (int w = 0; w < warps(); w++) {
    if (w < warp_id()) before += shared[0].warp_mass[w];
    total += shared[0].warp_mass[w];
  }
  const Mass wanted =
      min(static_cast<Mass>(uniform_number(o.seed, o.counter) * static_cast<double>(total)), total - 1);
  // In one warp's range the sum passes `wanted`.
  if (wanted >= before && wanted < before + mass) {
    walk(row, limit, least, ties_before, [&](int64_t i, Mass m) {
      const Mass sum = before + sum_of_lanes_up_to_own(m);
      const unsigned past = __ballot_sync(kAllLanes, sum > wanted);
      if (past != 0 && lane_id() == __ffs(static_cast<int>(past)) - 1) drawn[0] = static_cast<int32_t>(i);
      before = __shfl_sync(kAllLanes, sum, kWarp - 1);
      return past == 0;
    });
  }
  __syncthreads();  // the draw
  finish(drawn[0]);
}

}  // namespace

void sample(Context& context, int32_t* token, float* logprob, Tensor logits, const SampleOptions* options) {
  const int64_t R = logits.shape[0], V = logits.shape[1];
  if (R == 0) return;
  Context::Scratch scratch(context);
  const RowPlan plan = RowPlan::make(context.device(), V);
  const SampleOptions* device_options = scratch.upload(options, R);
  RowSoftmax* stats = scratch.take<RowSoftmax>(R);
  Sample* samples = scratch.take<Sample>(R);
  context.launch_cluster("softmax_stats", softmax_stats_kernel, plan.cluster,
                         dim3(static_cast<unsigned>(R * plan.cluster)), static_cast<unsigned>(plan.threads),
                         plan.shared_bytes(), stats, logits.f32(), plan, device_options);
  context.launch("draw", draw_kernel, dim3(static_cast<unsigned>(R)), static_cast<unsigned>(plan.threads), 0,
                 samples, logits.f32(), V, static_cast<const RowSoftmax*>(stats), device_options);
  std::vector<Sample> host(static_cast<size_t>(R));
  context.download(host.data(), samples, host.size() * sizeof(Sample));
  for (int64_t r = 0; r < R; r++) {
    token[r] = host[static_cast<size_t>(r)].token;
    logprob[r] = host[static_cast<size_t>(r)].logprob;
  }
}

}  // namespace skillgate::cuda
