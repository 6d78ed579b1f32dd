// Bitonic sort: a fixed network of comparisons, those of near neighbours in shared memory.
#include "cuda/sort.h"

namespace skillgate::cuda {
namespace {

constexpr int kThreads = 512, kBlockKeys = 2 * kThreads;

__global__ void make_keys_kernel(uint64_t* keys, const int32_t* index, int64_t R, int64_t padded) {
  const int64_t r = first_element();
  if (r >= padded) return;
  keys[r] =
      r < R ? static_cast<uint64_t>(static_cast<uint32_t>(index[r])) << 32 | static_cast<uint64_t>(r) : ~0ull;
}

// Orders the pair (i, i + distance): up where the run of `run` keys that holds it goes up.
__device__ __forceinline__ void order_pair(uint64_t& a, uint64_t& b, int64_t i, int64_t run) {
  const bool up = (i & run) == 0;
  if ((a > b) == up) {
    const uint64_t keep = a;
    a = b;
    b = keep;
  }
}

// The comparisons of distance `first_distance` and less for runs of first_run, and all of those of longer
// runs up to last_run, within each block's keys.
__global__ void __launch_bounds__(kThreads)
    sort_in_blocks_kernel(uint64_t* keys, int64_t first_run, int64_t last_run) {
  SKILLGATE_SHARED(uint64_t, local, [kBlockKeys]);
  const int64_t base = static_cast<int64_t>(blockIdx.x) * kBlockKeys;
  const int t = static_cast<int>(threadIdx.x);
  local[t] = keys[base + t];
  local[t + kThreads] = keys[base + t + kThreads];
  for (int64_t run = first_run; run <= last_run; run *= 2)
    for (int distance = static_cast<int>(min(run / 2, int64_t{kThreads})); distance > 0; distance /= 2) {
      __syncthreads();  // the previous comparisons are done
      const int i = t / distance * 2 * distance + t % distance;
      order_pair(local[i], local[i + distance], base + i, run);
    }
  __syncthreads();  // all pairs are in order
  keys[base + t] = local[t];
  keys[base + t + kThreads] = local[t + kThreads];
}

__global__ void __launch_bounds__(kThreads)
    sort_far_pairs_kernel(uint64_t* keys, int64_t run, int64_t distance) {
  const int64_t t = first_element(), i = t / distance * 2 * distance + t % distance;
  order_pair(keys[i], keys[i + distance], i, run);
}

}  // namespace

const uint64_t* sort_by_index(Context& context, Context::Scratch& scratch, const int32_t* index, int64_t R) {
  int64_t padded = kBlockKeys;
  while (padded < R) padded *= 2;
  uint64_t* keys = scratch.take<uint64_t>(padded);
  const dim3 blocks(static_cast<unsigned>(padded / kBlockKeys));
  context.launch("make_keys", make_keys_kernel, dim3(2 * blocks.x), kThreads, 0, keys, index, R, padded);
  context.launch("sort_in_blocks", sort_in_blocks_kernel, blocks, kThreads, 0, keys, int64_t{2},
                 int64_t{kBlockKeys});
  for (int64_t run = 2 * kBlockKeys; run <= padded; run *= 2) {
    for (int64_t distance = run / 2; distance >= kBlockKeys; distance /= 2)
      context.launch("sort_far_pairs", sort_far_pairs_kernel, blocks, kThreads, 0, keys, run, distance);
    context.launch("sort_in_blocks", sort_in_blocks_kernel, blocks, kThreads, 0, keys, run, run);
  }
  return keys;
}

}  // namespace skillgate::cuda
