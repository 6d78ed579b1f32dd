// Sum of squares of a gradient.
#pragma once
#include <cstdint>

#include "cpu/context.h"

namespace skillgate {

// In float64 over fixed pieces in order; non-finite if any element is.
double sum_of_squares(CpuContext& context, const float* x, int64_t n);

}  // namespace skillgate
