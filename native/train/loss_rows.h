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
  std::vector<int32_t> wanted;  // [W] rows of the pass that predict a target, ascending
  std::vector<int32_t> row;     // [R] which of them, by its place in `wanted`
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
  // Every token but each sequence's first; those alone where `scored` [T] is not 0, if given.
  void take_scored(const Sequences& sequences, const TokenRows& rows, const uint8_t* scored);

 private:
  void clear();
  void finish(int64_t rows);
  std::vector<int32_t> place_;  // of each row of the pass in `wanted`; -1: not there
};

}  // namespace skillgate
