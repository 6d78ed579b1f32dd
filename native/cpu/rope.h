// Rotary position embedding.
#pragma once
#include <cstdint>

#include "cpu/context.h"

namespace skillgate {

// x [T, heads, E] in place, cosine and sine [positions, E/2], positions [T].
void rope(CpuContext& context, float* x, const float* cosine, const float* sine, const int32_t* positions,
          int64_t T, int64_t heads, int64_t E, bool inverse);

}  // namespace skillgate
