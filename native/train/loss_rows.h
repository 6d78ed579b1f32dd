// The rows of a batch that carry loss, compacted: which hidden row predicts which target with which weights.
// Tokens without weight are left out here, so nothing after this point costs anything for them or looks at
// their fields.
#pragma once
#include <cstdint>
#include <vector>

#include "model/token_rows.h"
#include "train/policy.h"

namespace skillgate {

struct LossRows {
  std::vector<int32_t> row;     // [R] row of the pass whose hidden state predicts the target
  std::vector<int32_t> token;   // [R] where the target stands in the batch
  std::vector<int32_t> target;  // [R]
  std::vector<float> advantage, weight, kl_weight, behaviour,
      reference;  // [R]; the last two empty where absent
  int64_t R() const { return static_cast<int64_t>(row.size()); }

  // What the op says of them.
  std::vector<float> logprob, entropy;
  std::vector<uint8_t> clipped;

  // Both in the memory of earlier calls.
  void take_weighted(const AccumulateArgs& args, const TokenRows& rows);
  void take_all(const Sequences& sequences, const TokenRows& rows);  // every token but each sequence's first

 private:
  void clear();
  void size_outputs();
};

}  // namespace skillgate
