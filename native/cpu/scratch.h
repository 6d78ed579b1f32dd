// Working memory that ops reuse from call to call: one block for the whole call and one for each thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace skillgate {

// 64-byte aligned (2 MiB and huge pages from 4 MiB on). Throws Failure ERR_OUT_OF_MEMORY; not cleared.
void* allocate_aligned(size_t bytes);
void release_aligned(void* p);

class ScratchBlock {
 public:
  ScratchBlock() = default;
  ~ScratchBlock();
  ScratchBlock(ScratchBlock&& other) noexcept;
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;

  // At least `bytes`; what an earlier call returned is no longer valid. Keeps its memory for later calls;
  // a block of more than 64 MiB shrinks when less than a quarter of it is asked for.
  char* reserve(size_t bytes);
  char* data() const { return data_; }  // what the last reserve returned
  size_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

// Cuts a reserved block into aligned arrays. First pass (base null) measures, second pass hands out.
class Carver {
 public:
  explicit Carver(char* base = nullptr) : base_(base) {}

  template <class T>
  T* take(int64_t count) {
    size_t start = used_;
    used_ += (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return base_ ? reinterpret_cast<T*>(base_ + start) : nullptr;
  }
  size_t used() const { return used_; }

 private:
  char* base_;
  size_t used_ = 0;
};

}  // namespace skillgate
