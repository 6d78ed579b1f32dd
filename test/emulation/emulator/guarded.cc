#include "emulator/guarded.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "emulator/sanitizers.h"

namespace emulation {

namespace {
constexpr size_t kGuard = 256;  // before and after; cudaMalloc aligns to 256 bytes too
constexpr unsigned char kGuardByte = 0xA5;

bool all_guard_bytes(const char* p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (static_cast<unsigned char>(p[i]) != kGuardByte) return false;
  return true;
}
size_t padded(size_t bytes) {
  return (bytes + kGuard - 1) / kGuard * kGuard;
}
}  // namespace

Guarded::Guarded(size_t bytes) : bytes_(bytes) {
  block_ = static_cast<char*>(std::aligned_alloc(kGuard, padded(bytes) + 2 * kGuard));
  if (!block_) throw std::bad_alloc();
  data_ = block_ + kGuard;
  std::memset(block_, kGuardByte, padded(bytes) + 2 * kGuard);
  poison();
#if EMULATION_ADDRESS_SANITIZER
  __asan_poison_memory_region(block_, kGuard);
  __asan_poison_memory_region(block_ + kGuard + bytes, padded(bytes) - bytes + kGuard);
#endif
}

Guarded::~Guarded() {
#if EMULATION_ADDRESS_SANITIZER
  if (block_) __asan_unpoison_memory_region(block_, padded(bytes_) + 2 * kGuard);
#endif
  std::free(block_);
}

Guarded::Guarded(Guarded&& other) noexcept {
  *this = std::move(other);
}

Guarded& Guarded::operator=(Guarded&& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void Guarded::poison() {
  std::memset(data_, kPoison, bytes_);
}

bool Guarded::intact() const {
#if EMULATION_ADDRESS_SANITIZER
  return true;
#else
  return !block_ || (all_guard_bytes(block_, kGuard) &&
                     all_guard_bytes(block_ + kGuard + bytes_, padded(bytes_) - bytes_ + kGuard));
#endif
}

}  // namespace emulation
