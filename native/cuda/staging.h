// A ring of pinned host memory through which small pieces go to the device without making the host wait.
#pragma once
#include <cstddef>

#include "cuda/cuda_common.cuh"

namespace skillgate::cuda {

class Staging {
 public:
  static constexpr size_t kHalf = 1 << 20;  // bytes; the largest piece that goes through

  ~Staging();
  // Copies `host` aside and puts the copy to `device` on the stream.
  cudaError_t upload(void* device, const void* host, size_t bytes, cudaStream_t stream);

 private:
  cudaError_t open();
  char* block_ = nullptr;  // two halves: one fills while the device reads the other
  cudaEvent_t read_[2] = {nullptr, nullptr};
  int half_ = 0;
  size_t used_ = 0;
};

}  // namespace skillgate::cuda
