#include "cpu/token_mask.h"

#include <algorithm>
#include <vector>

namespace skillgate {
namespace {

constexpr uint8_t kNone = 0, kExecution = 1, kSelection = 2;
constexpr int32_t kNoRead = -1;

struct Range {
  int64_t begin, end;
};

Range clip(int32_t start, int32_t end, int64_t tokens) {
  return {std::clamp<int64_t>(start, 0, tokens), std::clamp<int64_t>(end, 0, tokens)};
}

}  // namespace

int64_t token_mask(const TokenMaskArgs& a) {
  // Which read's identity span a token lies in, the earliest one if several.
  std::vector<int32_t> owner(static_cast<size_t>(a.tokens), kNoRead);
  std::vector<int64_t> identity_tokens(static_cast<size_t>(a.reads), 0);
  for (int64_t r = 0; r < a.reads; ++r) {
    Range span = clip(a.identity_start[r], a.identity_end[r], a.tokens);
    for (int64_t t = span.begin; t < span.end; ++t) {
      if (owner[t] != kNoRead) continue;
      owner[t] = static_cast<int32_t>(r);
      if (a.generated[t]) ++identity_tokens[r];
    }
  }
  int64_t active_reads = 0;
  for (int64_t r = 0; r < a.reads; ++r) {
    if (a.read_advantage[r] == 0.f) identity_tokens[r] = 0;
    if (identity_tokens[r] > 0) ++active_reads;
  }

  int64_t generated = 0, execution = 0;
  for (int64_t t = 0; t < a.tokens; ++t) {
    a.channel[t] = a.generated[t] ? kExecution : kNone;
    if (a.generated[t]) ++generated;
  }
  for (int64_t r = 0; r < a.reads && !a.read_calls_included; ++r) {
    Range span = clip(a.call_start[r], a.call_end[r], a.tokens);
    for (int64_t t = span.begin; t < span.end; ++t) a.channel[t] = kNone;
  }
  for (int64_t t = 0; t < a.tokens; ++t) {
    if (a.generated[t] && owner[t] != kNoRead && identity_tokens[owner[t]] > 0) a.channel[t] = kSelection;
    if (a.channel[t] == kExecution) ++execution;
  }

  const float execution_weight =
      execution > 0 ? static_cast<float>(1.0 / static_cast<double>(execution)) : 0.f;
  const float kl_weight = generated > 0 ? static_cast<float>(1.0 / static_cast<double>(generated)) : 0.f;
  for (int64_t s = 0; s < a.sequences; ++s) {
    for (int64_t t = a.sequence_offsets[s]; t < a.sequence_offsets[s + 1]; ++t) {
      a.kl_weight[t] = a.generated[t] ? kl_weight : 0.f;
      a.advantage[t] = a.weight[t] = 0.f;
      if (a.channel[t] == kExecution) {
        a.advantage[t] = a.outcome_advantage[s];
        a.weight[t] = execution_weight;
      } else if (a.channel[t] == kSelection) {
        const int32_t read = owner[t];
        a.advantage[t] = a.read_advantage[read];
        a.weight[t] = static_cast<float>(a.selector_coefficient / static_cast<double>(active_reads) /
                                         static_cast<double>(identity_tokens[read]));
      }
    }
  }
  return generated;
}

}  // namespace skillgate
