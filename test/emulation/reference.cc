#include "reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace skillgate::test {

double distance(const Floats& got, const Doubles& want) {
  return got.size() == want.size() ? relative_distance(got.data(), want)
                                   : std::numeric_limits<double>::infinity();
}

double largest_difference(const Floats& got, const Doubles& want) {
  double largest = got.size() == want.size() ? 0 : std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < want.size() && i < got.size(); i++) {
    const double d = std::abs(got[i] - want[i]);
    if (!(d <= largest)) largest = d;
  }
  return largest;
}

bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

Doubles plus(const Floats& a, const Doubles& b) {
  Doubles sum(b);
  for (size_t i = 0; i < sum.size(); i++) sum[i] += a[i];
  return sum;
}

Doubles product_reference(View a, View b, int64_t M, int64_t N, int64_t K) {
  Doubles out;
  for (int64_t m = 0; m < M; m++)
    for (int64_t n = 0; n < N; n++) {
      double sum = 0;
      for (int64_t k = 0; k < K; k++) sum += a.at(m, k) * b.at(n, k);
      out.push_back(sum);
    }
  return out;
}

namespace {

double dot(const float* a, const float* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// visit(head row of q, keys' head rows, their weights) for every query row and head.
template <class Visit>
void for_each_head(const AttentionCase& c, Visit visit) {
  for (int64_t s = 0; s < c.spans.segments; s++) {
    std::vector<int64_t> keys;
    for (int64_t j = c.spans.span_offsets[s]; j < c.spans.span_offsets[s + 1]; j++)
      for (int64_t i = 0; i < c.spans.span_count[j]; i++) keys.push_back(c.spans.span_row[j] + i);
    const int64_t first = c.spans.segment_offsets[s], n = c.spans.segment_offsets[s + 1] - first;
    for (int64_t i = 0; i < n; i++)
      for (int64_t h = 0; h < c.H; h++) {
        const int64_t row = (first + i) * c.H + h, g = h * c.G / c.H;
        const int64_t visible = static_cast<int64_t>(keys.size()) - n + i + 1;
        std::vector<int64_t> heads;
        Doubles score;
        double maximum = -std::numeric_limits<double>::infinity(), sum = 0;
        for (int64_t j = 0; j < visible; j++) {
          heads.push_back(keys[static_cast<size_t>(j)] * c.G + g);
          score.push_back(c.scale * dot(&c.q[static_cast<size_t>(row * c.E)],
                                        &c.k[static_cast<size_t>(heads.back() * c.E)], c.E));
          maximum = std::max(maximum, score.back());
        }
        for (double& x : score) sum += x = std::exp(x - maximum);
        for (double& x : score) x /= sum;
        visit(row, heads, score, maximum + std::log(sum));
      }
  }
}

}  // namespace

void attention_reference(const AttentionCase& c, Doubles& o, Doubles& lse) {
  o.assign(c.q.size(), 0);
  lse.assign(c.q.size() / static_cast<size_t>(c.E), 0);
  for_each_head(c, [&](int64_t row, const std::vector<int64_t>& heads, const Doubles& p, double log_sum) {
    lse[static_cast<size_t>(row)] = log_sum;
    for (size_t j = 0; j < heads.size(); j++)
      for (int64_t e = 0; e < c.E; e++)
        o[static_cast<size_t>(row * c.E + e)] += p[j] * c.v[static_cast<size_t>(heads[j] * c.E + e)];
  });
}

void attention_backward_reference(const AttentionCase& c, const Floats& d_o, Doubles& dq, Doubles& dk,
                                  Doubles& dv) {
  dq.assign(c.q.size(), 0);
  dk.assign(c.k.size(), 0);
  dv.assign(c.v.size(), 0);
  for_each_head(c, [&](int64_t row, const std::vector<int64_t>& heads, const Doubles& p, double) {
    const float* d = &d_o[static_cast<size_t>(row * c.E)];
    double delta = 0;
    Doubles dp;
    for (size_t j = 0; j < heads.size(); j++) {
      dp.push_back(dot(d, &c.v[static_cast<size_t>(heads[j] * c.E)], c.E));
      delta += p[j] * dp[j];
    }
    for (size_t j = 0; j < heads.size(); j++) {
      const double ds = p[j] * (dp[j] - delta) * c.scale;
      for (int64_t e = 0; e < c.E; e++) {
        const auto key = static_cast<size_t>(heads[j] * c.E + e), query = static_cast<size_t>(row * c.E + e);
        dq[query] += ds * c.k[key];
        dk[key] += ds * c.q[query];
        dv[key] += p[j] * d[e];
      }
    }
  });
}

namespace {

struct RowLoss {
  double loss = 0, kl = 0, slope = 0;
  int clipped = 0;
};

RowLoss row_loss(const PolicyLossArgs& a, int64_t r, double logprob) {
  RowLoss out;
  if (a.weight[r] != 0) {
    const double advantage = a.advantage[r];
    const double raw = a.behaviour_logprob ? logprob - a.behaviour_logprob[r] : 0;
    const double ratio = std::exp(std::min(20.0, std::max(-20.0, raw)));
    const double open = -ratio * advantage;
    const double closed = -std::min(1.0 + a.clip_high, std::max(1.0 - a.clip_low, ratio)) * advantage;
    double value = std::max(open, closed), slope = std::abs(raw) <= 20 ? open : 0;
    if (closed > open) out.clipped = 1;
    if (a.dual_clip > 0 && advantage < 0 && value > -a.dual_clip * advantage) {
      value = -a.dual_clip * advantage;
      out.clipped = 1;
    }
    out.loss = a.weight[r] * value;
    out.slope = out.clipped ? 0 : a.weight[r] * slope;
  }
  if (a.kl_weight && a.kl_weight[r] != 0 && a.reference_logprob) {
    const double d = logprob - a.reference_logprob[r];
    double value = 0, slope = 0;
    switch (a.kl) {
      case KlEstimator::k1:
        value = d, slope = 1;
        break;
      case KlEstimator::k2:
        value = d * d / 2, slope = d;
        break;
      case KlEstimator::k3:
        value = std::exp(-d) + d - 1, slope = 1 - std::exp(-d);
        if (std::abs(value) > 10) value = value > 0 ? 10 : -10, slope = 0;
        break;
    }
    out.kl = a.kl_weight[r] * value;
    out.slope += a.kl_coefficient * a.kl_weight[r] * slope;
  }
  return out;
}

}  // namespace

LossReference policy_loss_reference(const PolicyLossArgs& a) {
  const int64_t R = a.hidden.shape[0], D = a.hidden.shape[1], V = a.lm_head.shape[0];
  LossReference out;
  out.logprob.assign(static_cast<size_t>(R), 0);
  out.entropy.assign(static_cast<size_t>(R), 0);
  out.clipped.assign(static_cast<size_t>(R), 0);
  out.d_hidden.assign(static_cast<size_t>(R * D), 0);
  out.d_lm_head.assign(static_cast<size_t>(V * D), 0);
  for (int64_t r = 0; r < R; r++) {
    if (a.weight[r] == 0 && !(a.kl_weight && a.kl_weight[r] != 0)) continue;
    const float* h = a.hidden.f32() + r * D;
    Doubles p;
    double maximum = -std::numeric_limits<double>::infinity(), sum = 0, entropy = 0;
    for (int64_t v = 0; v < V; v++) {
      p.push_back(dot(h, a.lm_head.f32() + v * D, D) / a.temperature);
      maximum = std::max(maximum, p.back());
    }
    const double target = p[static_cast<size_t>(a.target[r])];
    for (double x : p) sum += std::exp(x - maximum);
    const double log_sum = maximum + std::log(sum);
    for (double& x : p) {
      const double log_p = x - log_sum;
      x = std::exp(log_p);
      if (x > 0) entropy -= x * log_p;
    }
    const RowLoss loss = row_loss(a, r, target - log_sum);
    out.logprob[static_cast<size_t>(r)] = target - log_sum;
    out.entropy[static_cast<size_t>(r)] = entropy;
    out.clipped[static_cast<size_t>(r)] = loss.clipped;
    out.loss += loss.loss;
    out.kl_loss += loss.kl;
    for (int64_t v = 0; v < V; v++) {
      const double d = loss.slope / a.temperature * ((v == a.target[r]) - p[static_cast<size_t>(v)]);
      for (int64_t i = 0; i < D; i++) {
        out.d_hidden[static_cast<size_t>(r * D + i)] += d * a.lm_head.f32()[v * D + i];
        out.d_lm_head[static_cast<size_t>(v * D + i)] += d * h[i];
      }
    }
  }
  out.loss += a.kl_coefficient * out.kl_loss;
  return out;
}

}  // namespace skillgate::test
