// Sum of squares in float64: blocks over parts whose bounds depend on the length alone, then the parts, in
// one order.
#include <algorithm>

#include "cuda/ops.h"
#include "cuda/reduce.cuh"

namespace skillgate::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostParts = 1024, kLeastPart = 4096;

__global__ void __launch_bounds__(kThreads)
    sum_of_squares_kernel(double* partial, const float* x, int64_t count, int64_t part) {
  SKILLGATE_SHARED(double, slots, [kWarp]);
  const int64_t begin = blockIdx.x * part, end = min(count, begin + part);
  double sum = 0;
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const double value = x[i];
    sum += value * value;
  }
  sum = block_sum(sum, slots);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// One block.
__global__ void __launch_bounds__(kThreads)
    sum_parts_kernel(double* sum, const double* partial, int64_t parts) {
  SKILLGATE_SHARED(double, slots, [kWarp]);
  double mine = 0;
  for (int64_t i = threadIdx.x; i < parts; i += kThreads) mine += partial[i];
  mine = block_sum(mine, slots);
  if (threadIdx.x == 0) *sum = mine;
}

}  // namespace

void sum_of_squares(Context& context, Tensor sum, Tensor x) {
  const int64_t count = x.count();
  const int64_t part = std::max(kLeastPart, ceil_div(count, kMostParts)), parts = ceil_div(count, part);
  Context::Scratch scratch(context);
  double* partial = scratch.take<double>(parts);
  context.launch("sum_of_squares", sum_of_squares_kernel, dim3(static_cast<unsigned>(parts)), kThreads, 0,
                 partial, x.f32(), count, part);
  context.launch("sum_parts", sum_parts_kernel, dim3(1), kThreads, 0, sum.f64(), partial, parts);
}

}  // namespace skillgate::cuda
