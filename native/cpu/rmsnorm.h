// Root-mean-square norm over the last dimension.
#pragma once
#include <cstdint>

#include "cpu/context.h"

namespace skillgate {

// x, y [N, D], w [D], rstd [N]
void rmsnorm_forward(CpuContext& context, float* y, float* rstd, const float* x, const float* w, int64_t N,
                     int64_t D, float eps);
// dx = or += (accumulate), dw +=
void rmsnorm_backward(CpuContext& context, float* dx, float* dw, const float* dy, const float* x,
                      const float* w, const float* rstd, int64_t N, int64_t D, bool accumulate);

}  // namespace skillgate
