// 8 x 8 transpose with AVX shuffles, shared by AVX2 and AVX-512.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace skillgate::SKILLGATE_TARGET {

constexpr int kTransposeBlock = 8;

// to[j * to_stride + i] = from[i][at + j] for i < rows, j < 8; rows <= 8.
inline void transpose_block(float* to, int64_t to_stride, const float* const* from, int rows, int64_t at) {
  __m256 r[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(from[i < rows ? i : 0] + at);
  __m256 a[8], b[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    a[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    b[4 * i + 0] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0x44);
    b[4 * i + 1] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0xee);
    b[4 * i + 2] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0x44);
    b[4 * i + 3] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0xee);
  }
  __m256 out[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    out[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    out[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  }
  if (rows == 8) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) _mm256_storeu_ps(to + j * to_stride, out[j]);
    return;
  }
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) {
    float* p = to + j * to_stride;
    __m128 part = _mm256_castps256_ps128(out[j]);
    if (rows & 4) {
      _mm_storeu_ps(p, part);
      part = _mm256_extractf128_ps(out[j], 1);
      p += 4;
    }
    if (rows & 2) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), part);
      part = _mm_movehl_ps(part, part);
      p += 2;
    }
    if (rows & 1) _mm_store_ss(p, part);
  }
}

}  // namespace skillgate::SKILLGATE_TARGET
