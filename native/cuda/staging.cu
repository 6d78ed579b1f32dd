#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/staging.h"

namespace skillgate::cuda {

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

cudaError_t PinnedMemory::reserve(size_t bytes) {
  if (bytes <= bytes_) return cudaSuccess;
  if (data_)
    if (const cudaError_t error = cudaFreeHost(std::exchange(data_, nullptr))) return error;
  bytes_ = 0;
  void* p = nullptr;
  if (const cudaError_t error = cudaMallocHost(&p, bytes)) return error;
  data_ = static_cast<char*>(p);
  bytes_ = bytes;
  return cudaSuccess;
}

cudaError_t Staging::upload(void* device, const void* host, size_t bytes, cudaStream_t stream) {
  while (block_ < blocks_.size() && used_ + bytes > blocks_[block_].bytes()) {
    block_++;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    PinnedMemory block;
    if (const cudaError_t error = block.reserve(std::max(bytes, kSmallestBlock))) return error;
    blocks_.push_back(std::move(block));
  }
  char* copy = blocks_[block_].data() + used_;
  std::memcpy(copy, host, bytes);
  used_ += round_up<size_t>(bytes, 16);
  staged_ += bytes;
  return cudaMemcpyAsync(device, copy, bytes, cudaMemcpyHostToDevice, stream);
}

void Staging::reuse() {
  block_ = used_ = staged_ = 0;
}

}  // namespace skillgate::cuda
