// What the sanitizers must be told; nothing where the build has none.
#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define EMULATION_ADDRESS_SANITIZER 1
#else
#define EMULATION_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define EMULATION_THREAD_SANITIZER 1
#else
#define EMULATION_THREAD_SANITIZER 0
#endif

namespace emulation {

// Everything before publish(at) in one device thread is ordered before everything after observe(at) in
// another.
inline void publish([[maybe_unused]] void* at) {
#if EMULATION_THREAD_SANITIZER
  __tsan_release(at);
#endif
}
inline void observe([[maybe_unused]] void* at) {
#if EMULATION_THREAD_SANITIZER
  __tsan_acquire(at);
#endif
}

}  // namespace emulation
