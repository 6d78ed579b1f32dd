// Pinned host memory: what the device reads and writes without making the host wait.
#pragma once
#include <cstddef>
#include <vector>

#include "cuda/cuda_common.cuh"

namespace skillgate::cuda {

// One piece that only grows.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  ~PinnedMemory() {
    if (data_) cudaFreeHost(data_);
  }
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  cudaError_t reserve(size_t bytes);  // what was there is void; growing waits for the device
  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

// What goes to the device is copied aside and read from there, so that its owner may change it at once. The
// copies of one step lie side by side; once the host has waited for the stream their memory is free again.
class Staging {
 public:
  // Bytes of one upload, and of all between two waits. A step of a million tokens uploads some 40 MiB.
  static constexpr size_t kLargest = size_t{4} << 20, kMost = size_t{64} << 20;

  bool full(size_t bytes) const { return staged_ + bytes > kMost; }
  cudaError_t upload(void* device, const void* host, size_t bytes, cudaStream_t stream);
  void reuse();  // the device has read all of it

 private:
  static constexpr size_t kSmallestBlock = size_t{1} << 20;
  std::vector<PinnedMemory> blocks_;
  size_t block_ = 0, used_ = 0;  // where the next copy goes
  size_t staged_ = 0;            // since the last wait
};

}  // namespace skillgate::cuda
