// Softmax over a block of attention scores and over a tile of the vocabulary, forward and backward.
#pragma once
#include "cpu/kernels.h"
#include "cpu/simd.h"

namespace skillgate::SKILLGATE_TARGET {

inline Vec minus_infinity() {
  return Vec::set1(-std::numeric_limits<float>::infinity());
}

// Lanes from count on become `fill`.
inline __attribute__((always_inline)) Vec load_filled(const float* p, int count, Vec fill) {
  return count == Vec::width ? Vec::load(p) : select_first(count, Vec::load_partial(p, count), fill);
}

inline float softmax_block(float* s, int visible, float* maximum, float* sum_out) {
  constexpr int W = Vec::width;
  float old = *maximum;
  Vec top = Vec::set1(old);
  for_each_some(visible, [&](int64_t i, int c) { top = max(top, load_filled(s + i, c, minus_infinity())); });
  float m = largest(top);
  Vec mv = Vec::set1(m), total = Vec::zero();
  int i = 0;
  for (; i < visible; i += W) {
    int c = visible - i < W ? visible - i : W;
    Vec p = exp(Vec::load(s + i) - mv);
    if (c < W) p = select_first(c, p, Vec::zero());
    total = total + p;
    p.store(s + i);
  }
  for (; i < kBlockKeys; i += W) Vec::zero().store(s + i);
  float shrink = 1.f;
  if (m != old) {
    float lanes[W];
    exp(Vec::set1(old - m)).store(lanes);
    shrink = lanes[0];
  }
  *maximum = m;
  *sum_out = *sum_out * shrink + sum(total);
  return shrink;
}

inline void softmax_block_backward(float* p, float* ds, int visible, float lse, float delta) {
  constexpr int W = Vec::width;
  Vec l = Vec::set1(lse), d = Vec::set1(delta);
  int i = 0;
  for (; i < visible; i += W) {
    Vec pi = exp(Vec::load(p + i) - l);
    Vec di = pi * (Vec::load(ds + i) - d);
    if (visible - i < W) {
      pi = select_first(visible - i, pi, Vec::zero());
      di = select_first(visible - i, di, Vec::zero());
    }
    pi.store(p + i);
    di.store(ds + i);
  }
  for (; i < kBlockKeys; i += W) {
    Vec::zero().store(p + i);
    Vec::zero().store(ds + i);
  }
}

inline SoftmaxStats softmax_stats(const float* x, int64_t n, float inverse_temperature) {
  constexpr int W = Vec::width;
  constexpr float inf = std::numeric_limits<float>::infinity();
  Vec scale = Vec::set1(inverse_temperature);
  Vec t0 = minus_infinity(), t1 = t0;
  int64_t i = 0;
  for (; i + 2 * W <= n; i += 2 * W) {
    t0 = max(t0, Vec::load(x + i) * scale);
    t1 = max(t1, Vec::load(x + i + W) * scale);
  }
  for (; i < n; i += W) {
    int c = n - i < W ? static_cast<int>(n - i) : W;
    t0 = max(t0, c == W ? Vec::load(x + i) * scale
                        : select_first(c, Vec::load_partial(x + i, c) * scale, minus_infinity()));
  }
  float m = largest(max(t0, t1));
  if (m == -inf) return {m, 0.f, 0.f};
  Vec mv = Vec::set1(m), floor = Vec::set1(-200.f);  // exp is 0 there: 0 * log 0 = 0
  Vec e0 = Vec::zero(), e1 = e0, u0 = e0, u1 = e0;
  i = 0;
  for (; i + 2 * W <= n; i += 2 * W) {
    Vec y0 = Vec::load(x + i) * scale - mv, y1 = Vec::load(x + i + W) * scale - mv;
    Vec p0 = exp(y0), p1 = exp(y1);
    e0 = e0 + p0;
    e1 = e1 + p1;
    u0 = fma(p0, max(floor, y0), u0);
    u1 = fma(p1, max(floor, y1), u1);
  }
  for (; i < n; i += W) {
    int c = n - i < W ? static_cast<int>(n - i) : W;
    Vec y = load_some(x + i, c) * scale - mv;
    Vec p = exp(y);
    Vec u = p * max(floor, y);
    if (c < W) {
      p = select_first(c, p, Vec::zero());
      u = select_first(c, u, Vec::zero());
    }
    e0 = e0 + p;
    u0 = u0 + u;
  }
  return {m, sum(e0 + e1), sum(u0 + u1)};
}

inline void softmax_backward(float* x, int64_t n, float inverse_temperature, float maximum, float log_sum,
                             float g) {
  Vec scale = Vec::set1(inverse_temperature), m = Vec::set1(maximum), l = Vec::set1(log_sum);
  Vec factor = Vec::set1(-g);
  for_each_some(n, [&](int64_t i, int c) {
    store_some(factor * exp((load_some(x + i, c) * scale - m) - l), x + i, c);
  });
}

inline void softmax_weights(float* out, const float* x, int64_t n, float inverse_temperature, float maximum) {
  Vec scale = Vec::set1(inverse_temperature), m = Vec::set1(maximum);
  for_each_some(n, [&](int64_t i, int c) { store_some(exp(load_some(x + i, c) * scale - m), out + i, c); });
}

constexpr void fill_softmax(Kernels& k) {
  k.softmax_block = softmax_block;
  k.softmax_block_backward = softmax_block_backward;
  k.softmax_stats = softmax_stats;
  k.softmax_backward = softmax_backward;
  k.softmax_weights = softmax_weights;
}

}  // namespace skillgate::SKILLGATE_TARGET
