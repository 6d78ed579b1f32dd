// The per-token arrays and options of the policy loss: what kernels.policyLoss and policy.accumulate share.
#pragma once
#include <vector>

#include "backend/backend.h"
#include "binding/convert.h"

namespace skillgate {

struct LossFields {
  std::vector<float> advantage, weight, kl_weight;
  std::vector<float> behaviour_logprob, reference_logprob;  // empty: absent
  float temperature = 1.f, clip_low = 0.2f, clip_high = 0.28f, dual_clip = 0.f;
  KlEstimator kl = KlEstimator::k3;
  float kl_coefficient = 0.f;

  // T rows. Weights must be finite; advantage and behaviourLogprob where weight is not 0, referenceLogprob
  // where klWeight is not 0. What the fields of a row without weight hold is not looked at.
  static LossFields read(const Fields& fields, int64_t T);

  bool active(size_t t) const { return weight[t] != 0.f || kl_weight[t] != 0.f; }

  // Copies the fields into PolicyLossArgs or AccumulateArgs, which name them alike.
  template <typename Args>
  void give(Args& args) const {
    args.advantage = advantage.data();
    args.weight = weight.data();
    args.kl_weight = kl_weight.data();
    args.behaviour_logprob = behaviour_logprob.empty() ? nullptr : behaviour_logprob.data();
    args.reference_logprob = reference_logprob.empty() ? nullptr : reference_logprob.data();
    args.temperature = temperature;
    args.clip_low = clip_low;
    args.clip_high = clip_high;
    args.dual_clip = dual_clip;
    args.kl = kl;
    args.kl_coefficient = kl_coefficient;
  }
};

}  // namespace skillgate
