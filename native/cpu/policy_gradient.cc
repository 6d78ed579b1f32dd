#include "cpu/policy_gradient.h"

#include <algorithm>
#include <cmath>

namespace skillgate {
namespace {

constexpr double kMaxLogRatio = 20;
constexpr double kMaxK3 = 10;

struct Value {
  double value, slope;
};

Value kl_term(KlEstimator kind, double logprob, double reference) {
  const double d = logprob - reference;
  if (kind == KlEstimator::k1) return {d, 1};
  if (kind == KlEstimator::k2) return {d * d / 2, d};
  const double e = std::exp(-d), raw = e + d - 1;
  if (raw > kMaxK3) return {kMaxK3, 0};
  if (raw < -kMaxK3) return {-kMaxK3, 0};
  return {raw, 1 - e};
}

void policy_term(TokenLoss& out, const PolicyLossArgs& args, int64_t r, float logprob) {
  const double advantage = args.advantage[r], weight = args.weight[r];
  double log_ratio = args.behaviour_logprob ? static_cast<double>(logprob) - args.behaviour_logprob[r] : 0;
  bool clamped = false;
  if (log_ratio > kMaxLogRatio || log_ratio < -kMaxLogRatio) {
    log_ratio = log_ratio > 0 ? kMaxLogRatio : -kMaxLogRatio;
    clamped = true;
  }
  const double ratio = std::exp(log_ratio);
  const double bounded = std::clamp(ratio, 1.0 - args.clip_low, 1.0 + args.clip_high);
  double value = -ratio * advantage;
  double slope = clamped ? 0 : value;
  if (-bounded * advantage > value) {
    value = -bounded * advantage;
    slope = 0;
    out.clipped = true;
  }
  if (args.dual_clip > 0 && advantage < 0 && value > -args.dual_clip * advantage) {
    value = -args.dual_clip * advantage;
    slope = 0;
    out.clipped = true;
  }
  out.loss = weight * value;
  out.slope = weight * slope;
}

}  // namespace

TokenLoss token_loss(const PolicyLossArgs& args, int64_t r, float logprob) {
  TokenLoss out;
  if (args.weight[r] != 0.f) policy_term(out, args, r, logprob);
  if (args.kl_weight && args.kl_weight[r] != 0.f && args.reference_logprob) {
    const Value kl = kl_term(args.kl, logprob, args.reference_logprob[r]);
    out.kl_loss = args.kl_weight[r] * kl.value;
    if (args.kl_coefficient != 0.f) out.slope += args.kl_coefficient * args.kl_weight[r] * kl.slope;
  }
  return out;
}

}  // namespace skillgate
