// Memory that starts out as NaN and knows when somebody writes beside it.
#pragma once
#include <cstddef>

namespace emulation {

// Every byte of new memory: a NaN as float, double and bf16, -1 as an integer.
constexpr unsigned char kPoison = 0xFF;

class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(size_t bytes);
  ~Guarded();
  Guarded(Guarded&& other) noexcept;
  Guarded& operator=(Guarded&& other) noexcept;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  void poison();
  // False where a byte before or after the memory has changed. Under AddressSanitizer such a write is already
  // an error of its own.
  bool intact() const;

 private:
  char* block_ = nullptr;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace emulation
