// What kernels build on, the same for every instruction set: Vec (from simd_<set>.h), loops over a row with a
// partial last vector, and exp.
#pragma once
#include <cstdint>
#include <limits>

#if defined(SKILLGATE_KERNELS_AVX512)
#include "cpu/simd_avx512.h"
#elif defined(SKILLGATE_KERNELS_AVX2)
#include "cpu/simd_avx2.h"
#else
#include "cpu/simd_portable.h"
#endif

namespace skillgate::SKILLGATE_TARGET {

inline __attribute__((always_inline)) Vec load_some(const float* p, int count) {
  return count == Vec::width ? Vec::load(p) : Vec::load_partial(p, count);
}
inline __attribute__((always_inline)) void store_some(Vec v, float* p, int count) {
  if (count == Vec::width) {
    v.store(p);
  } else {
    v.store_partial(p, count);
  }
}

// body(i, count) for every vector of a row of n floats, the last one perhaps partial.
template <class Body>
inline __attribute__((always_inline)) void for_each_some(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + Vec::width <= n; i += Vec::width) body(i, Vec::width);
  if (i < n) body(i, static_cast<int>(n - i));
}

// Sum over a row of term(sum so far, i, count), in four running sums: the order depends on n alone. A partial
// vector's missing floats read as 0 and must add 0.
template <class Term>
inline __attribute__((always_inline)) float sum_terms(int64_t n, const Term& term) {
  constexpr int W = Vec::width;
  Vec a = Vec::zero(), b = Vec::zero(), c = Vec::zero(), d = Vec::zero();
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    a = term(a, i, W);
    b = term(b, i + W, W);
    c = term(c, i + 2 * W, W);
    d = term(d, i + 3 * W, W);
  }
  for (; i + W <= n; i += W) a = term(a, i, W);
  if (i < n) b = term(b, i, static_cast<int>(n - i));
  return sum((a + b) + (c + d));
}

// e^x to 1.5 ulp; 0 for -inf, inf above 88.73, NaN for NaN.
inline Vec exp(Vec x) {
  x = min(Vec::set1(89.f), max(Vec::set1(-104.f), x));
  Vec n = round_nearest(x * Vec::set1(1.44269504088896341f));
  Vec r = fnma(n, Vec::set1(0.693359375f), x);
  r = fnma(n, Vec::set1(-2.12194440e-4f), r);
  Vec p = Vec::set1(1.9875691500e-4f);
  p = fma(p, r, Vec::set1(1.3981999507e-3f));
  p = fma(p, r, Vec::set1(8.3334519073e-3f));
  p = fma(p, r, Vec::set1(4.1665795894e-2f));
  p = fma(p, r, Vec::set1(1.6666665459e-1f));
  p = fma(p, r, Vec::set1(5.0000001201e-1f));
  p = fma(p, r * r, r) + Vec::set1(1.f);
  return times_power_of_two(p, n);
}

inline Vec sigmoid(Vec x) {
  return Vec::set1(1.f) / (Vec::set1(1.f) + exp(Vec::zero() - x));
}

}  // namespace skillgate::SKILLGATE_TARGET
