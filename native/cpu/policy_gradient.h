// The loss of one token as a function of its logprob, and its slope.
#pragma once
#include <cstdint>

#include "backend/backend.h"

namespace skillgate {

struct TokenLoss {
  double loss = 0;     // weight * pg
  double kl_loss = 0;  // kl_weight * kl
  double slope = 0;    // d(loss + kl_coefficient * kl_loss) / d(logprob)
  bool clipped = false;
};

// Row r of args with the given logprob.
TokenLoss token_loss(const PolicyLossArgs& args, int64_t r, float logprob);

}  // namespace skillgate
