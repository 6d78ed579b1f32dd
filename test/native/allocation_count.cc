#include "allocation_count.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
std::atomic<int64_t> count{0}, bytes{0};

void note(size_t n) {
  count.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(static_cast<int64_t>(n), std::memory_order_relaxed);
}
}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) {
  note(n);
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  note(n * size);
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  note(n);
  return __libc_realloc(p, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  note(n);
  return __libc_memalign(alignment, n);
}
}

check::Allocations check::allocations() {
  return {count.load(), bytes.load()};
}

#else

check::Allocations check::allocations() {
  return {-1, -1};
}

#endif
