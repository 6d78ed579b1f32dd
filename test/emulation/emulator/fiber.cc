#include "emulator/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

#include "emulator/sanitizers.h"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__x86_64__)
// Saves the registers that a call must keep, stores the stack pointer at *save and goes on at `load`.
extern "C" void emulation_switch_stack(void** save, void* load);
asm(R"(
.text
.globl emulation_switch_stack
.hidden emulation_switch_stack
.type emulation_switch_stack, @function
emulation_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulation_switch_stack, .-emulation_switch_stack
)");
#endif

namespace emulation {

namespace {
// The fiber that a fresh stack belongs to: its first instruction has no argument registers to find it in.
Fiber* starting = nullptr;
#if EMULATION_ADDRESS_SANITIZER
const void** leaving_bottom = nullptr;
size_t* leaving_bytes = nullptr;
#endif
}  // namespace

Fiber::Fiber() {
#if EMULATION_THREAD_SANITIZER
  sanitizer_state_ = __tsan_get_current_fiber();
#endif
#if !defined(__x86_64__)
  stack_pointer_ = new ucontext_t;
#endif
}

Fiber::Fiber(size_t stack_bytes, void (*entry)(void*), void* argument) : entry_(entry), argument_(argument) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  stack_bytes_ = (stack_bytes + page - 1) / page * page;
  mapping_bytes_ = stack_bytes_ + page;
  mapping_ = mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::runtime_error("no memory for a fiber's stack");
  mprotect(mapping_, page, PROT_NONE);  // a stack that overflows faults
  char* bottom = static_cast<char*>(mapping_) + page;
  stack_bottom_ = bottom;
#if defined(__x86_64__)
  // As if emulation_switch_stack had been called at the start of start(): six registers, a return address.
  // Stacks start at different offsets in their pages: else the fibers of a block would all use the same few
  // cache lines.
  static size_t made = 0;
  auto* top = reinterpret_cast<uintptr_t*>(bottom + stack_bytes_ - made++ % 60 * 192);
  *--top = 0;  // keeps the stack pointer at start() as after a call
  *--top = reinterpret_cast<uintptr_t>(+[] { start(starting); });
  for (int i = 0; i < 6; i++) *--top = 0;
  stack_pointer_ = top;
#else
  auto* context = new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = bottom;
  context->uc_stack.ss_size = stack_bytes_;
  context->uc_link = nullptr;
  makecontext(context, reinterpret_cast<void (*)()>(+[] { start(starting); }), 0);
  stack_pointer_ = context;
#endif
#if EMULATION_THREAD_SANITIZER
  sanitizer_state_ = __tsan_create_fiber(0);
  owns_sanitizer_fiber_ = true;
#endif
}

Fiber::~Fiber() {
#if EMULATION_THREAD_SANITIZER
  if (owns_sanitizer_fiber_) __tsan_destroy_fiber(sanitizer_state_);
#endif
#if !defined(__x86_64__)
  delete static_cast<ucontext_t*>(stack_pointer_);
#endif
#if EMULATION_ADDRESS_SANITIZER
  // A stack that was left in mid-call still has poisoned pieces; the next mapping may be at the same place.
  if (mapping_) __asan_unpoison_memory_region(stack_bottom_, stack_bytes_);
#endif
  if (mapping_) munmap(mapping_, mapping_bytes_);
}

void Fiber::start(void* self) {
#if EMULATION_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(nullptr, leaving_bottom, leaving_bytes);
#endif
  auto* fiber = static_cast<Fiber*>(self);
  fiber->entry_(fiber->argument_);
}

void Fiber::switch_between(Fiber& from, Fiber& to) {
  starting = &to;
#if EMULATION_ADDRESS_SANITIZER
  // A thread's own stack is known only when it is first left.
  leaving_bottom = &from.stack_bottom_;
  leaving_bytes = &from.stack_bytes_;
  __sanitizer_start_switch_fiber(&from.sanitizer_state_, to.stack_bottom_, to.stack_bytes_);
#endif
#if EMULATION_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.sanitizer_state_, __tsan_switch_to_fiber_no_sync);
#endif
#if defined(__x86_64__)
  emulation_switch_stack(&from.stack_pointer_, to.stack_pointer_);
#else
  swapcontext(static_cast<ucontext_t*>(from.stack_pointer_), static_cast<ucontext_t*>(to.stack_pointer_));
#endif
#if EMULATION_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(from.sanitizer_state_, leaving_bottom, leaving_bytes);
#endif
}

}  // namespace emulation
