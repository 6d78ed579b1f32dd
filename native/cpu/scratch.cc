#include "cpu/scratch.h"

#include <cstdlib>
#include <string>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "backend/status.h"

namespace skillgate {
namespace {

constexpr size_t kHuge = size_t{2} << 20;
constexpr size_t kMostBytes = size_t{1} << 46;  // more than processors address
constexpr size_t kShrinkAbove = size_t{64} << 20;

}  // namespace

void* allocate_aligned(size_t bytes) {
  size_t alignment = bytes >= 2 * kHuge ? kHuge : 64;
  void* p = nullptr;
  if (bytes <= kMostBytes) {
    p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  if (!p && bytes > 0) {
    throw Failure("ERR_OUT_OF_MEMORY", "cannot allocate " + std::to_string(bytes) + " bytes of memory");
  }
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (alignment == kHuge) madvise(p, bytes, MADV_HUGEPAGE);
#endif
  return p;
}

void release_aligned(void* p) {
  std::free(p);
}

ScratchBlock::~ScratchBlock() {
  release_aligned(data_);
}

ScratchBlock::ScratchBlock(ScratchBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

char* ScratchBlock::reserve(size_t bytes) {
  bool too_small = bytes > bytes_;
  bool far_too_large = bytes_ > kShrinkAbove && bytes < bytes_ / 4;
  if (too_small || far_too_large) {
    release_aligned(std::exchange(data_, nullptr));
    bytes_ = 0;
    data_ = static_cast<char*>(allocate_aligned(bytes));
    bytes_ = bytes;
  }
  return data_;
}

}  // namespace skillgate
