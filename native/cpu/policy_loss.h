// The LM head, the policy-gradient loss and their gradients in one op.
#pragma once
#include <cstdint>

#include "backend/backend.h"
#include "cpu/context.h"

namespace skillgate {

// Bytes of scratch of a call with gradients: one chunk of rows.
int64_t policy_loss_bytes(int64_t R, int64_t D, int64_t V);

PolicyLossResult policy_loss(CpuContext& context, const PolicyLossArgs& args);

// hidden [R, D], lm_head [V, D]
void token_logprob(CpuContext& context, float* logprob, float* entropy, Tensor hidden, Tensor lm_head,
                   const void* packed, const int32_t* target, float temperature);

}  // namespace skillgate
