// Draws one token a row.
#pragma once
#include <cstdint>

#include "backend/backend.h"
#include "cpu/context.h"

namespace skillgate {

// logits [R, V]. top-k is applied first, top-p to what it leaves, min-p last; then the kept tokens are drawn
// from by the inverse of their cumulative weight in order of id. Row r of logits with a NaN: token 0, logprob
// NaN.
void sample(CpuContext& context, int32_t* token, float* logprob, const float* logits,
            const SampleOptions* options, int64_t R, int64_t V);

// Uniform in [0, 1), a function of (seed, counter): Philox4x32-10, 53 bits.
double uniform_number(uint64_t seed, uint64_t counter);

}  // namespace skillgate
