// A call of policy_loss, what it gives, and the op's definition in float64.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Problem {
  int64_t R = 0, D = 0, V = 0;
  std::vector<float> hidden, lm_head;
  std::vector<int32_t> target;
  std::vector<float> advantage, weight, kl_weight, behaviour, reference;
  PolicyLossArgs options;  // the scalars
};

struct Result {
  double loss = 0, kl_loss = 0;
  std::vector<float> logprob, entropy, d_hidden, d_lm_head;
  std::vector<uint8_t> clipped;

  bool operator==(const Result& o) const {
    auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && same_bits(a.data(), b.data(), a.size() * sizeof(float));
    };
    return same_bits(&loss, &o.loss, sizeof loss) && same_bits(&kl_loss, &o.kl_loss, sizeof loss) &&
           same(logprob, o.logprob) && same(entropy, o.entropy) && same(d_hidden, o.d_hidden) &&
           same(d_lm_head, o.d_lm_head) && clipped == o.clipped;
  }
};

inline float* or_null(std::vector<float>& x) {
  return x.empty() ? nullptr : x.data();
}

inline Result run(Backend& b, Problem& p, bool packed, bool gradients = true, int times = 1) {
  Result r;
  Guarded logprob(p.R, kNan), entropy(p.R, kNan), d_hidden(p.R * p.D, kNan), d_lm_head(p.V * p.D, 0.f);
  r.clipped.assign(static_cast<size_t>(p.R), 7);
  PolicyLossArgs a = p.options;
  a.hidden = Tensor(p.hidden.data(), DType::f32, {p.R, p.D});
  a.lm_head = Tensor(p.lm_head.data(), DType::f32, {p.V, p.D});
  std::vector<char> panels(packed ? b.packed_bytes(p.V, p.D) : 0);
  if (packed) {
    b.pack(panels.data(), a.lm_head);
    a.lm_head_packed = panels.data();
  }
  a.target = p.target.data();
  a.advantage = p.advantage.data();
  a.weight = p.weight.data();
  a.kl_weight = p.kl_weight.data();
  a.behaviour_logprob = or_null(p.behaviour);
  a.reference_logprob = or_null(p.reference);
  a.logprob = logprob.data();
  a.entropy = entropy.data();
  a.clipped = r.clipped.data();
  if (gradients) {
    a.d_hidden = Tensor(d_hidden.data(), DType::f32, {p.R, p.D});
    a.d_lm_head = Tensor(d_lm_head.data(), DType::f32, {p.V, p.D});
  }
  PolicyLossResult result;
  for (int i = 0; i < times; ++i) result = b.policy_loss(a);
  EXPECT(logprob.intact() && entropy.intact() && d_hidden.intact() && d_lm_head.intact());
  r.loss = result.loss;
  r.kl_loss = result.kl_loss;
  r.logprob.assign(logprob.data(), logprob.data() + p.R);
  r.entropy.assign(entropy.data(), entropy.data() + p.R);
  if (gradients) {
    r.d_hidden.assign(d_hidden.data(), d_hidden.data() + p.R * p.D);
    r.d_lm_head.assign(d_lm_head.data(), d_lm_head.data() + p.V * p.D);
  }
  return r;
}

struct Wanted {
  double loss = 0, kl_loss = 0;
  Doubles logprob, entropy, d_hidden, d_lm_head;
};

// The definition in backend.h, in float64. The behaviour logprob of a row without one is its own.
inline Wanted reference(const Problem& p) {
  const PolicyLossArgs& o = p.options;
  Wanted w;
  w.logprob.resize(static_cast<size_t>(p.R));
  w.entropy.resize(static_cast<size_t>(p.R));
  w.d_hidden.resize(static_cast<size_t>(p.R * p.D));
  w.d_lm_head.resize(static_cast<size_t>(p.V * p.D));
  for (int64_t r = 0; r < p.R; ++r) {
    if (p.weight[r] == 0 && p.kl_weight[r] == 0) continue;
    Doubles y(static_cast<size_t>(p.V));
    double top = -1e300, sum = 0;
    for (int64_t v = 0; v < p.V; ++v) {
      for (int64_t d = 0; d < p.D; ++d) y[v] += double{p.hidden[r * p.D + d]} * p.lm_head[v * p.D + d];
      y[v] /= o.temperature;
      top = std::max(top, y[v]);
    }
    for (double v : y) sum += std::exp(v - top);
    for (double& v : y) v -= top + std::log(sum);
    const double lp = y[p.target[r]];
    w.logprob[r] = lp;
    for (double v : y) w.entropy[r] -= std::exp(v) * v;
    double slope = 0;
    if (p.weight[r] != 0) {
      const double x = p.behaviour.empty() ? 0 : lp - p.behaviour[r], a = p.advantage[r];
      const double ratio = std::exp(std::min(20., std::max(-20., x)));
      const double bounded = std::min(1. + o.clip_high, std::max(1. - o.clip_low, ratio));
      double pg = std::max(-ratio * a, -bounded * a), d = pg == -ratio * a && std::abs(x) <= 20 ? pg : 0;
      if (o.dual_clip > 0 && a < 0 && pg > -o.dual_clip * a) {
        pg = -o.dual_clip * a;
        d = 0;
      }
      w.loss += p.weight[r] * pg;
      slope += p.weight[r] * d;
    }
    if (p.kl_weight[r] != 0 && !p.reference.empty()) {
      const double d = p.reference[r] - lp;
      double kl = -d, dkl = 1;
      if (o.kl == KlEstimator::k2) {
        kl = d * d / 2;
        dkl = -d;
      } else if (o.kl == KlEstimator::k3) {
        kl = std::exp(d) - d - 1;
        dkl = kl > 10 ? 0 : 1 - std::exp(d);
        kl = std::min(kl, 10.);
      }
      w.kl_loss += p.kl_weight[r] * kl;
      slope += o.kl_coefficient * p.kl_weight[r] * dkl;
    }
    for (int64_t v = 0; v < p.V; ++v) {
      const double g = slope * ((v == p.target[r]) - std::exp(y[v])) / o.temperature;
      for (int64_t d = 0; d < p.D; ++d) {
        w.d_hidden[r * p.D + d] += g * p.lm_head[v * p.D + d];
        w.d_lm_head[v * p.D + d] += g * p.hidden[r * p.D + d];
      }
    }
  }
  w.loss += o.kl_coefficient * w.kl_loss;
  return w;
}

// About a third of the rows absent, a few with one kind of weight only.
inline Problem random_problem(int64_t R, int64_t D, int64_t V, uint64_t seed) {
  Random r(seed);
  Problem p;
  p.R = R;
  p.D = D;
  p.V = V;
  p.hidden = r.normals(R * D);
  p.lm_head = r.normals(V * D, 1.f / std::sqrt(static_cast<float>(D)));
  for (int64_t i = 0; i < R; ++i) {
    const bool absent = r.uniform() < 0.35;
    p.target.push_back(static_cast<int32_t>(r.below(V)));
    p.advantage.push_back(r.normal());
    p.weight.push_back(absent || r.uniform() < 0.2 ? 0.f : static_cast<float>(r.uniform()));
    p.kl_weight.push_back(absent || r.uniform() < 0.2 ? 0.f : 0.1f);
    p.behaviour.push_back(-std::log(static_cast<float>(V)) + r.normal());
    p.reference.push_back(-std::log(static_cast<float>(V)) + r.normal());
  }
  p.options.kl_coefficient = 0.05f;
  return p;
}

inline void expect_close(const Result& got, const Wanted& want, const Problem& p) {
  EXPECT_NEAR(got.loss, want.loss, 1e-5 * std::max(1., std::abs(want.loss)));
  EXPECT_NEAR(got.kl_loss, want.kl_loss, 1e-5 * std::max(1., std::abs(want.kl_loss)));
  for (int64_t r = 0; r < p.R; ++r) {
    EXPECT_NEAR(got.logprob[r], want.logprob[r], 2e-5);
    EXPECT_NEAR(got.entropy[r], want.entropy[r], 2e-5);
  }
  EXPECT_NEAR(relative_distance(got.d_hidden.data(), want.d_hidden), 0, 1e-5);
  EXPECT_NEAR(relative_distance(got.d_lm_head.data(), want.d_lm_head), 0, 1e-5);
}

// Vocabularies around its tile of 512; the last has more rows than one chunk holds.

}  // namespace skillgate::test
