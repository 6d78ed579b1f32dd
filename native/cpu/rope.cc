#include "cpu/rope.h"

namespace skillgate {

void rope(CpuContext& context, float* x, const float* cosine, const float* sine, const int32_t* positions,
          int64_t T, int64_t heads, int64_t E, bool inverse) {
  const int64_t half = E / 2, row = heads * E;
  const float sign = inverse ? -1.f : 1.f;
  int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(row, 1));
  context.for_ranges(T, grain, T * heads * (E / context.kernels.width + 4),
                     [&](int64_t begin, int64_t end, int) {
                       for (int64_t t = begin; t < end; ++t) {
                         const float* c = cosine + positions[t] * half;
                         const float* s = sine + positions[t] * half;
                         for (int64_t h = 0; h < heads; ++h)
                           context.kernels.rope(x + t * row + h * E, c, s, half, sign);
                       }
                     });
}

}  // namespace skillgate
