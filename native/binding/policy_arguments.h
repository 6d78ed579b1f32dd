// The arguments of the policy's methods, read and checked.
#pragma once
#include <string>
#include <vector>

#include "binding/convert.h"
#include "binding/loss_fields.h"
#include "model/generate.h"
#include "train/policy.h"

namespace skillgate {

PolicyOptions read_policy_options(const Fields& fields);

struct PackedTokens {
  std::vector<int32_t> tokens, offsets;

  // At least one token, every id in the vocabulary, no sequence longer than max_context.
  static PackedTokens read(const Fields& fields, int64_t vocabulary, int64_t max_context);
  size_t size() const { return tokens.size(); }
  Sequences sequences() const;
};

// The first token of a sequence has nothing to be predicted from: ERR_FIRST_TOKEN_WEIGHT.
void check_first_tokens(const Fields& fields, const PackedTokens& packed, const LossFields& loss);

float read_temperature(const Fields& fields);
StepOptions read_step_options(const Fields& fields);
GenerateRequest read_generate_request(const Fields& fields, int64_t vocabulary);

}  // namespace skillgate
