// The gated activation of the feed-forward layer.
#pragma once
#include <cstdint>

#include "cpu/context.h"

namespace skillgate {

// y = gate * sigmoid(gate) * up, n elements
void swiglu_forward(CpuContext& context, float* y, const float* gate, const float* up, int64_t n);
void swiglu_backward(CpuContext& context, float* dgate, float* dup, const float* dy, const float* gate,
                     const float* up, int64_t n);

}  // namespace skillgate
