// One thread an element.
#pragma once
#include "cuda/cuda_context.h"

namespace skillgate::cuda {

template <class Body>
__global__ void elementwise_kernel(int64_t count, Body body) {
  for (int64_t i = first_element(); i < count; i += all_threads()) body(i);
}

// body(i) on the device for 0 <= i < count; a struct with a __device__ operator() const.
template <class Body>
void elementwise(Context& context, const char* name, int64_t count, Body body) {
  constexpr int kThreads = 256, kBlocksEach = 32;  // enough blocks to fill every multiprocessor several times
  const int64_t blocks = std::min<int64_t>(ceil_div<int64_t>(count, kThreads),
                                           int64_t{context.device().multiprocessors} * kBlocksEach);
  context.launch(name, elementwise_kernel<Body>, dim3(static_cast<unsigned>(blocks)), kThreads, 0, count,
                 body);
}

}  // namespace skillgate::cuda
