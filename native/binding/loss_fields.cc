#include "binding/loss_fields.h"

#include <cmath>
#include <limits>

#include "binding/checks.h"

namespace skillgate {

LossFields LossFields::read(const Fields& fields, int64_t T) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  LossFields loss;
  loss.advantage = fields.array<float>("advantage", T);
  loss.weight = fields.array<float>("weight", T);
  if (fields.has("klWeight")) {
    loss.kl_weight = fields.array<float>("klWeight", T);
  } else {
    loss.kl_weight.resize(static_cast<size_t>(T), 0.f);
  }
  if (fields.has("behaviourLogprob")) loss.behaviour_logprob = fields.array<float>("behaviourLogprob", T);
  if (fields.has("referenceLogprob")) loss.reference_logprob = fields.array<float>("referenceLogprob", T);
  loss.temperature = fields.single("temperature", {0, kInfinity, true}, 1);
  loss.clip_low = fields.single("clipLow", {0, 1}, 0.2);
  loss.clip_high = fields.single("clipHigh", {0, kInfinity}, 0.28);
  loss.dual_clip = fields.single("dualClip", {1, kInfinity, true}, 0);
  loss.kl = static_cast<KlEstimator>(fields.choice("kl", {"k1", "k2", "k3"}, 2));
  loss.kl_coefficient = fields.single("klCoefficient", {0, kInfinity}, 0);

  const std::string& where = fields.where();
  check_finite(where, "weight", loss.weight);
  check_finite(where, "klWeight", loss.kl_weight);
  const auto check = [&](const char* field, const std::vector<float>& values,
                         const std::vector<float>& weight) {
    for (size_t t = 0; t < values.size(); t++) {
      if (weight[t] != 0.f && !std::isfinite(values[t])) fail_not_finite(where, field, t, values[t]);
    }
  };
  check("advantage", loss.advantage, loss.weight);
  check("behaviourLogprob", loss.behaviour_logprob, loss.weight);
  check("referenceLogprob", loss.reference_logprob, loss.kl_weight);
  return loss;
}

}  // namespace skillgate
