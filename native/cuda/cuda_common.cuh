// What every kernel builds on: CUDA itself, shared memory, bf16, small integer arithmetic.
//
// Shared memory is declared through two macros, so that the same source also compiles as plain C++ for the
// emulator of test/emulation, whose own <cuda_runtime.h> defines them to give each block poisoned memory.
#pragma once
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#ifndef SKILLGATE_SHARED
#define SKILLGATE_SHARED(type, name, extent) __shared__ type name extent
#define SKILLGATE_DYNAMIC_SHARED(name) extern __shared__ __align__(128) unsigned char name[]
#endif

namespace skillgate::cuda {

using bf16 = __nv_bfloat16;

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;
constexpr float kLog2E = 1.44269504088896341f;

template <class T>
__host__ __device__ constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
template <class T>
__host__ __device__ constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}

__device__ __forceinline__ int lane_id() {
  return static_cast<int>(threadIdx.x % kWarp);
}
__device__ __forceinline__ int warp_id() {
  return static_cast<int>(threadIdx.x / kWarp);
}
// The first of the elements that this thread handles where each handles one, and how many there are in all.
__device__ __forceinline__ int64_t first_element() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t all_threads() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

__device__ __forceinline__ float to_float(bf16 x) {
  return __bfloat162float(x);
}
__device__ __forceinline__ bf16 to_bf16(float x) {
  return __float2bfloat16_rn(x);
}

// Two neighbours of a row as one register; `low` comes first in memory.
__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
  const bf16 a = to_bf16(low), b = to_bf16(high);
  uint16_t bits[2];
  memcpy(&bits[0], &a, sizeof a);
  memcpy(&bits[1], &b, sizeof b);
  return static_cast<uint32_t>(bits[0]) | static_cast<uint32_t>(bits[1]) << 16;
}

}  // namespace skillgate::cuda
