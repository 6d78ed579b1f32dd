// Stacks that one operating-system thread switches between. The switch is told to AddressSanitizer and
// ThreadSanitizer where the build has one of them.
#pragma once
#include <cstddef>

namespace emulation {

class Fiber {
 public:
  Fiber();  // the thread that calls, as the place to come back to
  Fiber(size_t stack_bytes, void (*entry)(void*), void* argument);  // runs entry, which must not return
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Goes on in `to`; comes back when somebody switches to `from`.
  static void switch_between(Fiber& from, Fiber& to);

 private:
  static void start(void* self);
  void* stack_pointer_ = nullptr;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  const void* stack_bottom_ = nullptr;
  size_t stack_bytes_ = 0;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  void* sanitizer_state_ = nullptr;  // AddressSanitizer's fake stack, ThreadSanitizer's fiber
  bool owns_sanitizer_fiber_ = false;
};

}  // namespace emulation
