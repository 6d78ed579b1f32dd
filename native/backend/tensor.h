// A view of memory that somebody else owns: pointer, element type, shape. Row-major, dense.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace skillgate {

enum class DType : uint8_t { f64, f32, bf16, f16, i32, u8 };

inline size_t dtype_bytes(DType t) {
  switch (t) {
    case DType::f64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::bf16:
    case DType::f16:
      return 2;
    default:
      return 1;
  }
}

struct Tensor {
  void* data = nullptr;
  DType dtype = DType::f32;
  int rank = 0;
  int64_t shape[4] = {1, 1, 1, 1};

  Tensor() = default;
  Tensor(void* d, DType t, std::initializer_list<int64_t> dims) : data(d), dtype(t) {
    for (int64_t n : dims) shape[rank++] = n;
  }

  explicit operator bool() const { return data != nullptr; }
  int64_t count() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
  size_t bytes() const { return static_cast<size_t>(count()) * dtype_bytes(dtype); }
  double* f64() const { return static_cast<double*>(data); }
  float* f32() const { return static_cast<float*>(data); }
  int32_t* i32() const { return static_cast<int32_t*>(data); }
  uint8_t* u8() const { return static_cast<uint8_t*>(data); }
};

}  // namespace skillgate
