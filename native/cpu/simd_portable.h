// 4 floats a vector, in plain C++ with the compiler's vector type: SSE2, NEON, or scalar code.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace skillgate::SKILLGATE_TARGET {

struct Vec {
  static constexpr int width = 4;
  typedef float Floats __attribute__((vector_size(16)));
  typedef int32_t Ints __attribute__((vector_size(16)));
  Floats v;

  static Vec zero() { return {Floats{0, 0, 0, 0}}; }
  static Vec set1(float x) { return {Floats{x, x, x, x}}; }
  static Vec load(const float* p) {
    Vec r;
    std::memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  static Vec load_bf16(const uint16_t* p) {
    uint32_t bits[width];
    for (int i = 0; i < width; ++i) bits[i] = uint32_t{p[i]} << 16;
    Vec r;
    std::memcpy(&r.v, bits, sizeof r.v);
    return r;
  }
  void store(float* p) const { std::memcpy(p, &v, sizeof v); }

  // The first n of 4 (0 <= n <= 4); the rest reads as 0 and is not written.
  static Vec load_partial(const float* p, int n) {
    Vec r = zero();
    for (int i = 0; i < n; ++i) r.v[i] = p[i];
    return r;
  }
  void store_partial(float* p, int n) const {
    for (int i = 0; i < n; ++i) p[i] = v[i];
  }
};

inline Vec operator+(Vec a, Vec b) {
  return {a.v + b.v};
}
inline Vec operator-(Vec a, Vec b) {
  return {a.v - b.v};
}
inline Vec operator*(Vec a, Vec b) {
  return {a.v * b.v};
}
inline Vec operator/(Vec a, Vec b) {
  return {a.v / b.v};
}
inline Vec fma(Vec a, Vec b, Vec c) {
  return {a.v * b.v + c.v};
}  // rounds twice
inline Vec fnma(Vec a, Vec b, Vec c) {
  return {c.v - a.v * b.v};
}  // rounds twice
inline Vec max(Vec a, Vec b) {
  return {a.v > b.v ? a.v : b.v};
}  // b if either is NaN
inline Vec min(Vec a, Vec b) {
  return {a.v < b.v ? a.v : b.v};
}  // b if either is NaN
inline Vec abs(Vec a) {
  return {a.v < 0.f ? -a.v : a.v};
}
inline bool any_at_least(Vec a, Vec b) {
  Vec::Ints m = a.v >= b.v;
  return (m[0] | m[1] | m[2] | m[3]) != 0;
}
inline Vec sqrt(Vec a) {
  for (int i = 0; i < 4; ++i) a.v[i] = std::sqrt(a.v[i]);
  return a;
}

// The first n lanes of a, the rest of b.
inline Vec select_first(int n, Vec a, Vec b) {
  return {Vec::Ints{0, 1, 2, 3} < Vec::Ints{n, n, n, n} ? a.v : b.v};
}

// For |a| < 2^22.
inline Vec round_nearest(Vec a) {
  Vec magic = Vec::set1(12582912.f);
  return (a + magic) - magic;
}
// a * 2^n, n whole and |n| <= 250 (or NaN, like a). In two factors, so that results below the normal range
// are right.
inline Vec times_power_of_two(Vec a, Vec n) {
  n.v = n.v == n.v ? n.v : Vec::Floats{0, 0, 0, 0};
  Vec::Ints whole = __builtin_convertvector(n.v, Vec::Ints);
  Vec::Ints half = whole >> 1;
  Vec::Ints p = (half + 127) << 23, q = (whole - half + 127) << 23;
  Vec::Floats pf, qf;
  std::memcpy(&pf, &p, sizeof p);
  std::memcpy(&qf, &q, sizeof q);
  return {a.v * pf * qf};
}

inline float sum(Vec a) {
  return (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]);
}
inline float largest(Vec a) {
  float x = a.v[0] > a.v[2] ? a.v[0] : a.v[2];
  float y = a.v[1] > a.v[3] ? a.v[1] : a.v[3];
  return x > y ? x : y;
}

constexpr int kTransposeBlock = 4;

// to[j * to_stride + i] = from[i][at + j] for i < rows, j < 4; rows <= 4.
inline void transpose_block(float* to, int64_t to_stride, const float* const* from, int rows, int64_t at) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < 4; ++j) to[j * to_stride + i] = from[i][at + j];
  }
}

}  // namespace skillgate::SKILLGATE_TARGET
