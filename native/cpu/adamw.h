// The AdamW update.
#pragma once
#include <cstdint>

#include "backend/backend.h"
#include "cpu/context.h"

namespace skillgate {

void adamw(CpuContext& context, float* w, const float* grad, float* m, float* v, int64_t n,
           const double* sum_of_squares, const AdamWOptions& options);

}  // namespace skillgate
