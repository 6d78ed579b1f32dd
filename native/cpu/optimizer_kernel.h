// One AdamW step and the sum of squares of a gradient.
#pragma once
#include "cpu/kernels.h"
#include "cpu/simd.h"

namespace skillgate::SKILLGATE_TARGET {

inline void adamw(float* w, const float* grad, float* m, float* v, int64_t n, const AdamWStep& s) {
  Vec b1 = Vec::set1(s.beta1), c1 = Vec::set1(1.f - s.beta1);
  Vec b2 = Vec::set1(s.beta2), c2 = Vec::set1(1.f - s.beta2);
  Vec rate = Vec::set1(s.learning_rate), decay = Vec::set1(s.learning_rate * s.weight_decay);
  Vec eps = Vec::set1(s.eps), scale = Vec::set1(s.gradient_scale);
  Vec first = Vec::set1(s.first_correction), second = Vec::set1(s.second_correction);
  for_each_some(n, [&](int64_t i, int c) {
    Vec g = scale * load_some(grad + i, c);
    Vec mi = fma(b1, load_some(m + i, c), c1 * g);
    Vec vi = fma(b2, load_some(v + i, c), c2 * g * g);
    Vec wi = load_some(w + i, c);
    Vec step = (mi * first) / (sqrt(vi * second) + eps);
    store_some(mi, m + i, c);
    store_some(vi, v + i, c);
    store_some(fnma(rate, step, fnma(decay, wi, wi)), w + i, c);
  });
}

// Eight running sums, element i in sum i mod 8.
inline double sum_of_squares(const float* x, int64_t n) {
  double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) s[j] += static_cast<double>(x[i + j]) * static_cast<double>(x[i + j]);
  }
  for (int j = 0; i < n; ++i, ++j) s[j] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

constexpr void fill_optimizer(Kernels& k) {
  k.adamw = adamw;
  k.sum_of_squares = sum_of_squares;
}

}  // namespace skillgate::SKILLGATE_TARGET
