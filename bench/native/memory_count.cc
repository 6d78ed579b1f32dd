#include "memory_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <malloc.h>
#endif

namespace {

std::atomic<int64_t> held{0}, most{0};

#if defined(__linux__)
void* counted(void* p) {
  if (!p) return p;
  const auto size = static_cast<int64_t>(malloc_usable_size(p));
  const int64_t now = held.fetch_add(size) + size;
  int64_t seen = most.load();
  while (now > seen && !most.compare_exchange_weak(seen, now)) {
  }
  return p;
}

void uncount(void* p) {
  if (p) held.fetch_sub(static_cast<int64_t>(malloc_usable_size(p)));
}
#endif

}  // namespace

#if defined(__linux__)
extern "C" {
void* __real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void* p);
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return counted(__real_aligned_alloc(alignment, bytes));
}
void __wrap_free(void* p) {
  uncount(p);
  __real_free(p);
}
}

void* operator new(size_t bytes) {
  void* p = counted(std::malloc(bytes > 0 ? bytes : 1));
  if (!p) throw std::bad_alloc();
  return p;
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
#endif

namespace skillgate::bench {

int64_t held_bytes() {
  return held.load();
}
int64_t most_held_bytes() {
  return most.load();
}
void forget_most_held() {
  most.store(held.load());
}
bool memory_is_counted() {
#if defined(__linux__)
  return true;
#else
  return false;
#endif
}

}  // namespace skillgate::bench
