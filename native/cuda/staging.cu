#include <cstring>

#include "cuda/staging.h"

namespace skillgate::cuda {

Staging::~Staging() {
  for (cudaEvent_t event : read_)
    if (event) cudaEventDestroy(event);
  if (block_) cudaFreeHost(block_);
}

cudaError_t Staging::open() {
  void* p = nullptr;
  if (const cudaError_t error = cudaMallocHost(&p, 2 * kHalf)) return error;
  block_ = static_cast<char*>(p);
  for (cudaEvent_t& event : read_)
    if (const cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming)) return error;
  return cudaSuccess;
}

cudaError_t Staging::upload(void* device, const void* host, size_t bytes, cudaStream_t stream) {
  if (!block_)
    if (const cudaError_t error = open()) return error;
  if (used_ + bytes > kHalf) {
    if (const cudaError_t error = cudaEventRecord(read_[half_], stream)) return error;
    half_ = 1 - half_;
    used_ = 0;
    // What was staged in this half the last time round must have left it.
    if (const cudaError_t error = cudaEventSynchronize(read_[half_])) return error;
  }
  char* piece = block_ + static_cast<size_t>(half_) * kHalf + used_;
  std::memcpy(piece, host, bytes);
  used_ += (bytes + 15) / 16 * 16;
  return cudaMemcpyAsync(device, piece, bytes, cudaMemcpyHostToDevice, stream);
}

}  // namespace skillgate::cuda
