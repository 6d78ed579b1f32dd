// Whole-row arithmetic: add, scale, dot, RMS norm, rotation, SwiGLU.
#pragma once
#include "cpu/kernels.h"
#include "cpu/simd.h"

namespace skillgate::SKILLGATE_TARGET {

inline void add(float* y, const float* x, int64_t n) {
  for_each_some(n,
                [&](int64_t i, int c) { store_some(load_some(y + i, c) + load_some(x + i, c), y + i, c); });
}

inline void scale(float* y, const float* x, float factor, int64_t n) {
  Vec s = Vec::set1(factor);
  for_each_some(n, [&](int64_t i, int c) { store_some(s * load_some(x + i, c), y + i, c); });
}

inline float dot(const float* x, const float* y, int64_t n) {
  return sum_terms(n,
                   [&](Vec s, int64_t i, int c) { return fma(load_some(x + i, c), load_some(y + i, c), s); });
}

inline float zero_if_finite(const float* x, int64_t n) {
  return sum_terms(n, [&](Vec s, int64_t i, int c) { return fma(load_some(x + i, c), Vec::zero(), s); });
}

// Eight running sums, product i in sum i mod 8.
inline double exact_dot(const float* x, const float* y, int64_t n) {
  double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) s[j] += static_cast<double>(x[i + j]) * static_cast<double>(y[i + j]);
  }
  for (int j = 0; i < n; ++i, ++j) s[j] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// Eight running sums, as in exact_dot.
inline double exact_sum(const float* x, int64_t n) {
  double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) s[j] += static_cast<double>(x[i + j]);
  }
  for (int j = 0; i < n; ++i, ++j) s[j] += static_cast<double>(x[i]);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

inline int64_t find_large(const float* x, int64_t begin, int64_t n, float limit) {
  int64_t i = begin;
  for (; i + Vec::width <= n; i += Vec::width) {
    if (any_at_least(abs(Vec::load(x + i)), Vec::set1(limit))) break;
  }
  for (; i < n; ++i) {
    float size = std::fabs(x[i]);
    if (size >= limit && size < std::numeric_limits<float>::infinity()) return i;
  }
  return n;
}

inline void rmsnorm(float* y, float* rstd, const float* x, const float* w, int64_t n, float eps) {
  float mean = dot(x, x, n) / static_cast<float>(n);
  float r = 1.f / std::sqrt(mean + eps);
  *rstd = r;
  Vec rv = Vec::set1(r);
  for_each_some(
      n, [&](int64_t i, int c) { store_some(load_some(x + i, c) * rv * load_some(w + i, c), y + i, c); });
}

// With xhat = x * rstd: dw += dy * xhat, dx = rstd * (dy * w - xhat * mean(dy * w * xhat)).
inline void rmsnorm_backward(float* dx, float* dw, const float* dy, const float* x, const float* w, int64_t n,
                             float rstd, bool accumulate) {
  float projection = sum_terms(n, [&](Vec s, int64_t i, int c) {
    return fma(load_some(dy + i, c) * load_some(w + i, c), load_some(x + i, c), s);
  });
  Vec r = Vec::set1(rstd), slope = Vec::set1(projection * rstd * rstd / static_cast<float>(n));
  for_each_some(n, [&](int64_t i, int c) {
    Vec g = load_some(dy + i, c), xi = load_some(x + i, c);
    Vec d = r * fnma(xi, slope, g * load_some(w + i, c));
    if (accumulate) d = load_some(dx + i, c) + d;
    store_some(d, dx + i, c);
    store_some(fma(g, xi * r, load_some(dw + i, c)), dw + i, c);
  });
}

inline void rope(float* x, const float* cosine, const float* sine, int64_t half, float sign) {
  Vec s = Vec::set1(sign);
  for_each_some(half, [&](int64_t i, int c) {
    Vec a = load_some(x + i, c), b = load_some(x + half + i, c);
    Vec cs = load_some(cosine + i, c), sn = load_some(sine + i, c) * s;
    store_some(fnma(b, sn, a * cs), x + i, c);
    store_some(fma(a, sn, b * cs), x + half + i, c);
  });
}

inline void swiglu(float* y, const float* gate, const float* up, int64_t n) {
  for_each_some(n, [&](int64_t i, int c) {
    Vec g = load_some(gate + i, c);
    store_some(g * sigmoid(g) * load_some(up + i, c), y + i, c);
  });
}

// s = sigmoid(gate): dup = dy * gate * s, dgate = dy * up * s * (1 + gate * (1 - s)).
inline void swiglu_backward(float* dgate, float* dup, const float* dy, const float* gate, const float* up,
                            int64_t n) {
  Vec one = Vec::set1(1.f);
  for_each_some(n, [&](int64_t i, int c) {
    Vec g = load_some(gate + i, c), u = load_some(up + i, c), d = load_some(dy + i, c);
    Vec s = sigmoid(g);
    store_some(d * g * s, dup + i, c);
    store_some(d * u * (s * fma(g, one - s, one)), dgate + i, c);
  });
}

constexpr void fill_rows(Kernels& k) {
  k.add = add;
  k.scale = scale;
  k.dot = dot;
  k.exact_dot = exact_dot;
  k.exact_sum = exact_sum;
  k.find_large = find_large;
  k.zero_if_finite = zero_if_finite;
  k.rmsnorm = rmsnorm;
  k.rmsnorm_backward = rmsnorm_backward;
  k.rope = rope;
  k.swiglu = swiglu;
  k.swiglu_backward = swiglu_backward;
}

}  // namespace skillgate::SKILLGATE_TARGET
