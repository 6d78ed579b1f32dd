// 8 floats a vector. Included by a kernel file that has switched the compiler to AVX2 with FMA.
#pragma once
#include <immintrin.h>

namespace skillgate::SKILLGATE_TARGET {

struct Vec {
  static constexpr int width = 8;
  __m256 v;

  static Vec zero() { return {_mm256_setzero_ps()}; }
  static Vec set1(float x) { return {_mm256_set1_ps(x)}; }
  static Vec load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static Vec load_bf16(const uint16_t* p) {
    const __m256i halves = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(halves, 16))};
  }
  void store(float* p) const { _mm256_storeu_ps(p, v); }

  // The first n of 8 (0 <= n <= 8); the rest reads as 0 and is not written.
  static __m256i first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Vec load_partial(const float* p, int n) { return {_mm256_maskload_ps(p, first(n))}; }
  // In pieces: masked stores are very slow on some processors.
  void store_partial(float* p, int n) const {
    if (n >= 8) return store(p);
    __m128 part = _mm256_castps256_ps128(v);
    if (n & 4) {
      _mm_storeu_ps(p, part);
      part = _mm256_extractf128_ps(v, 1);
      p += 4;
    }
    if (n & 2) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), part);
      part = _mm_movehl_ps(part, part);
      p += 2;
    }
    if (n & 1) _mm_store_ss(p, part);
  }
};

inline Vec operator+(Vec a, Vec b) {
  return {_mm256_add_ps(a.v, b.v)};
}
inline Vec operator-(Vec a, Vec b) {
  return {_mm256_sub_ps(a.v, b.v)};
}
inline Vec operator*(Vec a, Vec b) {
  return {_mm256_mul_ps(a.v, b.v)};
}
inline Vec operator/(Vec a, Vec b) {
  return {_mm256_div_ps(a.v, b.v)};
}
inline Vec fma(Vec a, Vec b, Vec c) {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}  // a*b + c
inline Vec fnma(Vec a, Vec b, Vec c) {
  return {_mm256_fnmadd_ps(a.v, b.v, c.v)};
}  // c - a*b
inline Vec max(Vec a, Vec b) {
  return {_mm256_max_ps(a.v, b.v)};
}  // b if either is NaN
inline Vec min(Vec a, Vec b) {
  return {_mm256_min_ps(a.v, b.v)};
}  // b if either is NaN
inline Vec sqrt(Vec a) {
  return {_mm256_sqrt_ps(a.v)};
}

inline Vec abs(Vec a) {
  return {_mm256_andnot_ps(_mm256_set1_ps(-0.f), a.v)};
}
inline bool any_at_least(Vec a, Vec b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_GE_OQ)) != 0;
}

// The first n lanes of a, the rest of b.
inline Vec select_first(int n, Vec a, Vec b) {
  return {_mm256_blendv_ps(b.v, a.v, _mm256_castsi256_ps(Vec::first(n)))};
}

inline Vec round_nearest(Vec a) {
  return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
// a * 2^n, n whole and |n| <= 250. In two factors, so that results below the normal range are right.
inline Vec times_power_of_two(Vec a, Vec n) {
  __m256i whole = _mm256_cvtps_epi32(n.v);
  __m256i half = _mm256_srai_epi32(whole, 1);
  __m256i rest = _mm256_sub_epi32(whole, half);
  __m256i bias = _mm256_set1_epi32(127);
  __m256 p = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23));
  __m256 q = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23));
  return {_mm256_mul_ps(_mm256_mul_ps(a.v, p), q)};
}

inline float sum(Vec a) {
  __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}
inline float largest(Vec a) {
  __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}

}  // namespace skillgate::SKILLGATE_TARGET

#include "cpu/simd_transpose_x86.h"
