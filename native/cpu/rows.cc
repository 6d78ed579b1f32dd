#include "cpu/rows.h"

#include <cstring>

namespace skillgate {
namespace {

int64_t rows_a_piece(int64_t D) {
  return std::max<int64_t>(1, 4096 / std::max<int64_t>(D, 1));
}

}  // namespace

void gather_rows(CpuContext& context, float* y, const float* x, const int32_t* index, int64_t R, int64_t D) {
  context.for_ranges(R, rows_a_piece(D), R * D / 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      std::memcpy(y + r * D, x + index[r] * D, static_cast<size_t>(D) * sizeof(float));
    }
  });
}

void scatter_rows(CpuContext& context, float* y, const float* x, const int32_t* index, int64_t R, int64_t D) {
  context.for_ranges(R, rows_a_piece(D), R * D / 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      std::memcpy(y + index[r] * D, x + r * D, static_cast<size_t>(D) * sizeof(float));
    }
  });
}

// Cut by columns: two rows with the same index meet in one thread.
void scatter_add_rows(CpuContext& context, float* dx, const float* dy, const int32_t* index, int64_t R,
                      int64_t D) {
  context.for_ranges(D, 64, R * D / context.kernels.width, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = 0; r < R; ++r) {
      context.kernels.add(dx + index[r] * D + begin, dy + r * D + begin, end - begin);
    }
  });
}

void add(CpuContext& context, float* y, const float* x, int64_t n) {
  context.for_ranges(n, 4096, n / context.kernels.width, [&](int64_t begin, int64_t end, int) {
    context.kernels.add(y + begin, x + begin, end - begin);
  });
}

}  // namespace skillgate
