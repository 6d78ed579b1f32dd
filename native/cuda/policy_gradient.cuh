// The loss of one token as a function of its logprob, and its slope; in float64, once a row.
#pragma once
#include "backend/backend.h"
#include "cuda/cuda_common.cuh"

namespace skillgate::cuda {

// One row's own numbers; fields that the options or the weights leave out may hold anything.
struct LossRow {
  int32_t target;
  float advantage, weight, kl_weight, behaviour_logprob, reference_logprob;
};

struct LossOptions {
  float clip_low, clip_high, dual_clip, kl_coefficient;
  KlEstimator kl;
  bool has_behaviour, has_reference;
};

struct TokenLoss {
  double loss, kl_loss;  // weight * pg, kl_weight * kl
  double slope;          // d(loss + kl_coefficient * kl_loss) / d(logprob)
  bool clipped;
};

__device__ inline void policy_term(TokenLoss& out, const LossRow& row, const LossOptions& o, float logprob) {
  constexpr double kMaxLogRatio = 20;
  const double advantage = row.advantage, weight = row.weight;
  double log_ratio = o.has_behaviour ? static_cast<double>(logprob) - row.behaviour_logprob : 0.0;
  const bool clamped = log_ratio > kMaxLogRatio || log_ratio < -kMaxLogRatio;
  if (clamped) log_ratio = log_ratio > 0 ? kMaxLogRatio : -kMaxLogRatio;
  const double ratio = exp(log_ratio);
  const double low = 1.0 - o.clip_low, high = 1.0 + o.clip_high;
  const double bounded = ratio < low ? low : ratio > high ? high : ratio;
  double value = -ratio * advantage, slope = clamped ? 0.0 : value;
  // A NaN is in `value` and stays there: comparisons with it are false.
  if (-bounded * advantage > value) {
    value = -bounded * advantage;
    slope = 0;
    out.clipped = true;
  }
  if (o.dual_clip > 0.f && advantage < 0 && value > -o.dual_clip * advantage) {
    value = -o.dual_clip * advantage;
    slope = 0;
    out.clipped = true;
  }
  out.loss = weight * value;
  out.slope = weight * slope;
}

__device__ inline void kl_term(TokenLoss& out, const LossRow& row, const LossOptions& o, float logprob) {
  constexpr double kMaxK3 = 10;
  const double d = static_cast<double>(logprob) - row.reference_logprob;
  double value = d, slope = 1;
  if (o.kl == KlEstimator::k2) {
    value = d * d / 2;
    slope = d;
  } else if (o.kl == KlEstimator::k3) {
    const double e = exp(-d);
    value = e + d - 1;
    slope = 1 - e;
    if (value > kMaxK3 || value < -kMaxK3) {
      value = value > 0 ? kMaxK3 : -kMaxK3;
      slope = 0;
    }
  }
  out.kl_loss = row.kl_weight * value;
  if (o.kl_coefficient != 0.f) out.slope += o.kl_coefficient * row.kl_weight * slope;
}

__device__ inline TokenLoss token_loss(const LossRow& row, const LossOptions& o, float logprob) {
  TokenLoss out{0, 0, 0, false};
  if (row.weight != 0.f) policy_term(out, row, o, logprob);
  if (row.kl_weight != 0.f && o.has_reference) kl_term(out, row, o, logprob);
  return out;
}

}  // namespace skillgate::cuda
