#include "train/loss_rows.h"

#include <string>

#include "backend/status.h"

namespace skillgate {

void LossRows::clear() {
  for (std::vector<int32_t>* v : {&wanted, &row, &token, &target}) v->clear();
  for (std::vector<float>* v : {&advantage, &weight, &kl_weight, &behaviour, &reference}) v->clear();
}

// From rows of the pass to places among those that are wanted; room for what the op says.
void LossRows::finish(int64_t rows) {
  place_.assign(static_cast<size_t>(rows), -1);
  for (const int32_t r : row) place_[static_cast<size_t>(r)] = 0;
  for (int64_t r = 0; r < rows; r++) {
    if (place_[static_cast<size_t>(r)] < 0) continue;
    place_[static_cast<size_t>(r)] = static_cast<int32_t>(wanted.size());
    wanted.push_back(static_cast<int32_t>(r));
  }
  for (int32_t& r : row) r = place_[static_cast<size_t>(r)];
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
  finish(rows.rows());
}

void LossRows::take_scored(const Sequences& s, const TokenRows& rows, const uint8_t* scored) {
  clear();
  for (int64_t i = 0; i < s.sequence_count; i++)
    for (int32_t t = s.offsets[i] + 1; t < s.offsets[i + 1]; t++) {
      if (scored && !scored[t]) continue;
      row.push_back(rows.row_of(i, t - 1 - s.offsets[i]));
      token.push_back(t);
      target.push_back(s.tokens[t]);
    }
  finish(rows.rows());
}

}  // namespace skillgate
