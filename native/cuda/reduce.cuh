// Reductions over a warp and over a block, in one fixed order whatever the schedule.
#pragma once
#include "cuda/cuda_common.cuh"

namespace skillgate::cuda {

// The value of the lane whose number differs in `distance`; structs that are reduced have an overload of it.
template <class T>
__device__ __forceinline__ T from_lane_xor(T value, int distance) {
  return __shfl_xor_sync(kAllLanes, value, distance);
}

// Every lane gets combine over all lanes, in a tree whose shape is fixed.
template <class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const T other = from_lane_xor(value, distance);
    // The lower lane's value comes first on both sides, so that both compute the same thing.
    value = (lane_id() & distance) ? combine(other, value) : combine(value, other);
  }
  return value;
}

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  return warp_reduce(value, [](T a, T b) { return a + b; });
}
__device__ __forceinline__ float warp_max(float value) {
  return warp_reduce(value, [](float a, float b) { return fmaxf(a, b); });
}

// Every thread of the block gets combine over all threads: warps first, then their results in order of the
// warps. blockDim.x is a multiple of 32; `slots` is shared memory for 32 values.
template <class T, class Combine>
__device__ __forceinline__ T block_reduce(T value, T* slots, Combine combine) {
  value = warp_reduce(value, combine);
  __syncthreads();  // whoever still reads the last reduction's slots
  if (lane_id() == 0) slots[warp_id()] = value;
  __syncthreads();  // all warps' values are there
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  T total = slots[0];
  for (int w = 1; w < warps; w++) total = combine(total, slots[w]);
  return total;
}

template <class T>
__device__ __forceinline__ T block_sum(T value, T* slots) {
  return block_reduce(value, slots, [](T a, T b) { return a + b; });
}

}  // namespace skillgate::cuda
