// NVIDIA's cuBLASLt, opened at run time: the addon must load where it is not installed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace skillgate::cuda {

// d [n, m] (column-major, fp32) = op(a) . op(b) + beta * d, or + bias [n] on every column; a and b bf16,
// column-major as well. op(a) is n x k, op(b) k x m.
struct LtProduct {
  int64_t n = 0, m = 0, k = 0;
  const void *a = nullptr, *b = nullptr;
  int64_t a_stride = 0, b_stride = 0;  // elements between columns in memory
  bool a_transposed = false, b_transposed = false;
  float* d = nullptr;
  int64_t d_stride = 0;
  const float* bias = nullptr;
  bool accumulate = false;
};

class CublasLt {
 public:
  static constexpr size_t kWorkspaceBytes = 32 << 20;

  // library: a path, or "" for libcublasLt.so.13 and .so.12 where the loader finds them. Null, and the reason
  // in why_not, where it cannot be used. workspace: kWorkspaceBytes of device memory.
  static std::unique_ptr<CublasLt> open(const std::string& library, std::string* why_not);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  const std::string& library() const;
  std::string version() const;  // "13.0.2"

  // Puts the product on the stream. False where cuBLASLt has no way to compute it: nothing was done.
  bool multiply(const LtProduct& p, void* workspace, void* stream) const;

 private:
  struct State;
  explicit CublasLt(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace skillgate::cuda
