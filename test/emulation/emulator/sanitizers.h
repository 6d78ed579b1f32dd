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
#if defined(__SANITIZE_THREAD__) || defined(EMULATION_TELLS_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#define EMULATION_THREAD_SANITIZER 1
#else
#define EMULATION_THREAD_SANITIZER 0
#endif

#if EMULATION_THREAD_SANITIZER
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace emulation {

// What the emulator does to memory meanwhile is nobody's access.
struct Unseen {
#if EMULATION_THREAD_SANITIZER
  Unseen() {
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  }
#else
  Unseen() {}
  ~Unseen() {}
#endif
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};

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
