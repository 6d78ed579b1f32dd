#include "cpu/swiglu.h"

namespace skillgate {
namespace {

constexpr int64_t kPiece = 2048;
constexpr int64_t kCost = 12;  // steps a vector, mostly exp

}  // namespace

void swiglu_forward(CpuContext& context, float* y, const float* gate, const float* up, int64_t n) {
  context.for_ranges(n, kPiece, n / context.kernels.width * kCost, [&](int64_t begin, int64_t end, int) {
    context.kernels.swiglu(y + begin, gate + begin, up + begin, end - begin);
  });
}

void swiglu_backward(CpuContext& context, float* dgate, float* dup, const float* dy, const float* gate,
                     const float* up, int64_t n) {
  context.for_ranges(n, kPiece, n / context.kernels.width * kCost, [&](int64_t begin, int64_t end, int) {
    context.kernels.swiglu_backward(dgate + begin, dup + begin, dy + begin, gate + begin, up + begin,
                                    end - begin);
  });
}

}  // namespace skillgate
