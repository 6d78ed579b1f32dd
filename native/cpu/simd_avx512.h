// 16 floats a vector. Included by a kernel file that has switched the compiler to AVX-512.
#pragma once
#include <immintrin.h>

namespace skillgate::SKILLGATE_TARGET {

struct Vec {
  static constexpr int width = 16;
  __m512 v;

  static Vec zero() { return {_mm512_setzero_ps()}; }
  static Vec set1(float x) { return {_mm512_set1_ps(x)}; }
  static Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Vec load_bf16(const uint16_t* p) {
    const __m512i halves = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(halves, 16))};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }

  // The first n of 16 (0 <= n <= 16); the rest reads as 0 and is not written.
  static __mmask16 first(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
  static Vec load_partial(const float* p, int n) { return {_mm512_maskz_loadu_ps(first(n), p)}; }
  void store_partial(float* p, int n) const { _mm512_mask_storeu_ps(p, first(n), v); }
};

inline Vec operator+(Vec a, Vec b) {
  return {_mm512_add_ps(a.v, b.v)};
}
inline Vec operator-(Vec a, Vec b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
inline Vec operator*(Vec a, Vec b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
inline Vec operator/(Vec a, Vec b) {
  return {_mm512_div_ps(a.v, b.v)};
}
inline Vec fma(Vec a, Vec b, Vec c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}  // a*b + c
inline Vec fnma(Vec a, Vec b, Vec c) {
  return {_mm512_fnmadd_ps(a.v, b.v, c.v)};
}  // c - a*b
inline Vec max(Vec a, Vec b) {
  return {_mm512_max_ps(a.v, b.v)};
}  // b if either is NaN
inline Vec min(Vec a, Vec b) {
  return {_mm512_min_ps(a.v, b.v)};
}  // b if either is NaN
inline Vec sqrt(Vec a) {
  return {_mm512_sqrt_ps(a.v)};
}

inline Vec abs(Vec a) {
  return {_mm512_abs_ps(a.v)};
}
inline bool any_at_least(Vec a, Vec b) {
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ) != 0;
}

// The first n lanes of a, the rest of b.
inline Vec select_first(int n, Vec a, Vec b) {
  return {_mm512_mask_blend_ps(Vec::first(n), b.v, a.v)};
}

inline Vec round_nearest(Vec a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline Vec times_power_of_two(Vec a, Vec n) {
  return {_mm512_scalef_ps(a.v, n.v)};
}  // a * 2^n, n whole

inline float sum(Vec a) {
  __m256 low = _mm512_castps512_ps256(a.v), high = _mm512_extractf32x8_ps(a.v, 1);
  __m256 s8 = _mm256_add_ps(low, high);
  __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}
inline float largest(Vec a) {
  __m256 low = _mm512_castps512_ps256(a.v), high = _mm512_extractf32x8_ps(a.v, 1);
  __m256 s8 = _mm256_max_ps(low, high);
  __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}

}  // namespace skillgate::SKILLGATE_TARGET

#include "cpu/simd_transpose_x86.h"
