#include "train/loss_rows.h"

#include <string>

#include "backend/status.h"

namespace skillgate {

void LossRows::clear() {
  for (std::vector<int32_t>* v : {&row, &token, &target}) v->clear();
  for (std::vector<float>* v : {&advantage, &weight, &kl_weight, &behaviour, &reference}) v->clear();
}

void LossRows::size_outputs() {
  logprob.resize(row.size());
  entropy.resize(row.size());
  clipped.resize(row.size());
}

void LossRows::take_weighted(const AccumulateArgs& a, const TokenRows& rows) {
  clear();
  const Sequences& s = a.sequences;
  auto kl_weight_of = [&](int32_t t) { return a.kl_weight && a.reference_logprob ? a.kl_weight[t] : 0.f; };
  for (int64_t i = 0; i < s.sequence_count; i++) {
    const int32_t begin = s.offsets[i], end = s.offsets[i + 1];
    if (a.weight[begin] != 0 || kl_weight_of(begin) != 0)
      throw Failure("ERR_FIRST_TOKEN_WEIGHT",
                    "token " + std::to_string(begin) +
                        ": expected weight 0 on the first token of a sequence, which nothing "
                        "predicts, got " +
                        std::to_string(a.weight[begin] != 0 ? a.weight[begin] : kl_weight_of(begin)));
    for (int32_t t = begin + 1; t < end; t++) {
      const float w = a.weight[t], k = kl_weight_of(t);
      if (w == 0 && k == 0) continue;
      row.push_back(rows.row_of(i, t - 1 - begin));
      token.push_back(t);
      target.push_back(s.tokens[t]);
      advantage.push_back(a.advantage[t]);
      weight.push_back(w);
      kl_weight.push_back(k);
      if (a.behaviour_logprob) behaviour.push_back(a.behaviour_logprob[t]);
      if (a.reference_logprob) reference.push_back(a.reference_logprob[t]);
    }
  }
  size_outputs();
}

void LossRows::take_all(const Sequences& s, const TokenRows& rows) {
  clear();
  for (int64_t i = 0; i < s.sequence_count; i++)
    for (int32_t t = s.offsets[i] + 1; t < s.offsets[i + 1]; t++) {
      row.push_back(rows.row_of(i, t - 1 - s.offsets[i]));
      token.push_back(t);
      target.push_back(s.tokens[t]);
    }
  size_outputs();
}

}  // namespace skillgate
