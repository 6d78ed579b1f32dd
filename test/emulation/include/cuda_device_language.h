// What a kernel's source uses of CUDA C++, as plain C++ on the emulator.
#pragma once
#include <math.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "emulator/block.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

// A variable or array of the block's shared memory; under nvcc `__shared__ type name extent`.
#define SKILLGATE_SHARED(type, name, extent)                    \
  using name##_shared_type = type extent;                       \
  static const char name##_shared_tag = 0;                      \
  name##_shared_type& name = *static_cast<name##_shared_type*>( \
      emulation::shared_variable(&name##_shared_tag, sizeof(name##_shared_type)))
// The shared memory whose size the launch gives.
#define SKILLGATE_DYNAMIC_SHARED(name) \
  unsigned char* name = static_cast<unsigned char*>(emulation::dynamic_shared())

using std::isfinite;
using std::max;
using std::min;

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

namespace emulation {
template <unsigned (*get)()>
struct Component {
  operator unsigned() const { return get(); }
};
template <unsigned (*get_x)(), unsigned (*get_y)(), unsigned (*get_z)()>
struct Place {
  Component<get_x> x;
  Component<get_y> y;
  Component<get_z> z;
};
}  // namespace emulation

#define EMULATION_PLACE(name, expression) \
  namespace emulation {                   \
  inline unsigned name##_x() {            \
    return (expression).x;                \
  }                                       \
  inline unsigned name##_y() {            \
    return (expression).y;                \
  }                                       \
  inline unsigned name##_z() {            \
    return (expression).z;                \
  }                                       \
  }                                       \
  inline constexpr emulation::Place<emulation::name##_x, emulation::name##_y, emulation::name##_z> name {}
EMULATION_PLACE(threadIdx, running->index);
EMULATION_PLACE(blockIdx, running->block->index);
EMULATION_PLACE(blockDim, launched->block);
EMULATION_PLACE(gridDim, launched->grid);
#undef EMULATION_PLACE

inline void __syncthreads() {
  emulation::wait_for_block();
}
inline void __threadfence() {}

namespace emulation {

template <class T>
const LaneWords* meet(const char* operation, const T& value) {
  static_assert(sizeof(T) <= sizeof(LaneWords));
  return meet(operation, &value, sizeof value);
}
template <class T>
T from_words(const LaneWords& words) {
  T value;
  std::memcpy(&value, &words, sizeof value);
  return value;
}
template <class T, class U>
T bits_as(U value) {
  static_assert(sizeof(T) == sizeof(U));
  T bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline void all_lanes(unsigned mask) {
  if (mask != 0xFFFFFFFFu) fail("only operations of whole warps are emulated");
}

}  // namespace emulation

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
  emulation::all_lanes(mask);
  emulation::meet("__syncwarp", nullptr, 0);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  emulation::all_lanes(mask);
  return emulation::from_words<T>(emulation::meet("__shfl_sync", value)[lane & 31]);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  emulation::all_lanes(mask);
  return emulation::from_words<T>(
      emulation::meet("__shfl_xor_sync", value)[(emulation::running->lane ^ lanes) & 31]);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes) {
  emulation::all_lanes(mask);
  const int from = emulation::running->lane - static_cast<int>(lanes);
  const emulation::LaneWords* words = emulation::meet("__shfl_up_sync", value);
  return from < 0 ? value : emulation::from_words<T>(words[from]);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  emulation::all_lanes(mask);
  const emulation::LaneWords* words = emulation::meet("__ballot_sync", predicate != 0);
  unsigned bits = 0;
  for (int i = 0; i < 32; i++) bits |= emulation::from_words<bool>(words[i]) ? 1u << i : 0u;
  return bits;
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == 0xFFFFFFFFu;
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}

// One thread runs at a time: a plain read and write is atomic. Ordering among threads is the caller's affair.
template <class T, class Change>
T emulation_atomic(T* at, Change change) {
  static_assert(!std::is_floating_point_v<T>, "sums of floats depend on the order of atomics");
#if defined(__SANITIZE_THREAD__)
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  __atomic_store_n(at, change(old), __ATOMIC_RELAXED);
#else
  T old = *at;
  *at = change(old);
#endif
  return old;
}
template <class T>
T atomicAdd(T* at, T value) {
  return emulation_atomic(at, [&](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMin(T* at, T value) {
  return emulation_atomic(at, [&](T old) { return std::min(old, value); });
}
template <class T>
T atomicMax(T* at, T value) {
  return emulation_atomic(at, [&](T old) { return std::max(old, value); });
}

template <class T>
T __ldg(const T* at) {
  return *at;
}
inline float rsqrtf(float x) {
  return 1.f / sqrtf(x);
}
inline unsigned __float_as_uint(float x) {
  return emulation::bits_as<unsigned>(x);
}
inline int __float_as_int(float x) {
  return emulation::bits_as<int>(x);
}
inline float __uint_as_float(unsigned x) {
  return emulation::bits_as<float>(x);
}
inline float __int_as_float(int x) {
  return emulation::bits_as<float>(x);
}
