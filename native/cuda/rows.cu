// Rows picked by an index, put back, or added; the embedding is one of them.
#include "cuda/elementwise.cuh"
#include "cuda/ops.h"
#include "cuda/sort.h"

namespace skillgate::cuda {
namespace {

int64_t row_size(const Tensor& x) {
  return x.shape[1] * x.shape[2] * x.shape[3];
}

struct Gather {
  float* y;
  const float* x;
  const int32_t* index;
  int64_t D;
  __device__ void operator()(int64_t i) const { y[i] = x[index[i / D] * D + i % D]; }
};

struct Put {
  float* y;
  const float* x;
  const int32_t* index;
  int64_t D;
  __device__ void operator()(int64_t i) const { y[index[i / D] * D + i % D] = x[i]; }
};

struct Add {
  float* y;
  const float* x;
  __device__ void operator()(int64_t i) const { y[i] += x[i]; }
};

__device__ __forceinline__ int64_t index_of(uint64_t key) {
  return static_cast<int64_t>(key >> 32);
}
__device__ __forceinline__ int64_t row_of(uint64_t key) {
  return static_cast<int64_t>(key & 0xFFFFFFFFu);
}

// The block at the first of a run of equal indices adds the whole run's rows, in order; the others end at
// once.
__global__ void scatter_add_rows_kernel(float* dx, const float* dy, const uint64_t* keys, int64_t R,
                                        int64_t D) {
  const int64_t first = blockIdx.x, target = index_of(keys[first]);
  if (first > 0 && index_of(keys[first - 1]) == target) return;
  for (int64_t d = threadIdx.x; d < D; d += blockDim.x) {
    float sum = dx[target * D + d];
    for (int64_t r = first; r < R && index_of(keys[r]) == target; r++) sum += dy[row_of(keys[r]) * D + d];
    dx[target * D + d] = sum;
  }
}

}  // namespace

void gather_rows(Context& context, Tensor y, Tensor x, Tensor index) {
  const int64_t D = row_size(x);
  elementwise(context, "gather_rows", index.count() * D, Gather{y.f32(), x.f32(), index.i32(), D});
}

void scatter_rows(Context& context, Tensor y, Tensor x, Tensor index) {
  const int64_t D = row_size(x);
  elementwise(context, "scatter_rows", index.count() * D, Put{y.f32(), x.f32(), index.i32(), D});
}

void scatter_add_rows(Context& context, Tensor dx, Tensor dy, Tensor index) {
  const int64_t R = index.count(), D = row_size(dy);
  if (R == 0) return;
  Context::Scratch scratch(context);
  const uint64_t* keys = sort_by_index(context, scratch, index.i32(), R);
  context.launch("scatter_add_rows", scatter_add_rows_kernel, dim3(static_cast<unsigned>(R)), 256, 0,
                 dx.f32(), dy.f32(), keys, R, D);
}

void add(Context& context, Tensor y, Tensor x) {
  elementwise(context, "add", y.count(), Add{y.f32(), x.f32()});
}

}  // namespace skillgate::cuda
