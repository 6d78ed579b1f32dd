#include "train/loss_rows.h"

#include <string>

#include "backend/status.h"

namespace skillgate {

LossRows LossRows::weighted(const AccumulateArgs& a, const TokenRows& rows) {
  LossRows out;
  const Sequences& s = a.sequences;
  auto kl_weight = [&](int32_t t) { return a.kl_weight && a.reference_logprob ? a.kl_weight[t] : 0.f; };
  for (int64_t i = 0; i < s.sequence_count; i++) {
    const int32_t begin = s.offsets[i], end = s.offsets[i + 1];
    if (a.weight[begin] != 0 || kl_weight(begin) != 0)
      throw Failure("ERR_FIRST_TOKEN_WEIGHT",
                    "token " + std::to_string(begin) +
                        ": expected weight 0 on the first token of a sequence, which nothing "
                        "predicts, got " +
                        std::to_string(a.weight[begin] != 0 ? a.weight[begin] : kl_weight(begin)));
    for (int32_t t = begin + 1; t < end; t++) {
      const float w = a.weight[t], k = kl_weight(t);
      if (w == 0 && k == 0) continue;
      out.row.push_back(rows.row_of(i, t - 1 - begin));
      out.token.push_back(t);
      out.target.push_back(s.tokens[t]);
      out.advantage.push_back(a.advantage[t]);
      out.weight.push_back(w);
      out.kl_weight.push_back(k);
      if (a.behaviour_logprob) out.behaviour.push_back(a.behaviour_logprob[t]);
      if (a.reference_logprob) out.reference.push_back(a.reference_logprob[t]);
    }
  }
  return out;
}

LossRows LossRows::all(const Sequences& s, const TokenRows& rows) {
  LossRows out;
  for (int64_t i = 0; i < s.sequence_count; i++)
    for (int32_t t = s.offsets[i] + 1; t < s.offsets[i + 1]; t++) {
      out.row.push_back(rows.row_of(i, t - 1 - s.offsets[i]));
      out.token.push_back(t);
      out.target.push_back(s.tokens[t]);
    }
  return out;
}

}  // namespace skillgate
