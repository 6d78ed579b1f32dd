// Matrix products: c [M, N] = (or +=) a [M, K] . b [K, N] + bias [N].
//
// Every element is summed in one order that depends on K alone: blocks of kBlockK from k = 0, each one chain
// of fused multiply-adds from 0, added to the element in turn (the first one to what is there if adding), the
// bias last. Tiling, packing, the number of rows and threads do not enter.
//
// Forward products are `sharp`: an element that comes out at kLargeElement or more is summed again in
// float64, so that large logits have no more than the error of their last rounding. That, too, depends on the
// element alone.
#pragma once
#include <cstdint>

#include "backend/tensor.h"
#include "cpu/context.h"

namespace skillgate {

constexpr int64_t kBlockK = 256;
constexpr float kLargeElement = 128;
constexpr int64_t kMaxBlockRows = 336;  // rows that one matmul_block can take

// Rows of floats, perhaps chosen by an index.
struct RowSource {
  const float* data = nullptr;
  int64_t stride = 0;
  const int32_t* index = nullptr;  // null: row r is the r-th
  const float* row(int64_t r) const { return data + (index ? index[r] : r) * stride; }
};

struct LeftOperand {
  RowSource rows;
  bool transposed = false;  // false: a[i, k] = rows(i)[k]; true: a[i, k] = rows(k)[i]
};

// Panels of tile_cols columns, each [K, tile_cols], zero-filled, of one of the two types; or none.
struct Panels {
  const float* f32 = nullptr;
  const uint16_t* bf16 = nullptr;
  explicit operator bool() const { return f32 || bf16; }
};

struct RightOperand {
  Panels packed;
  RowSource rows;
  bool transposed = false;  // false: b[k, j] = rows(k)[j]; true: b[k, j] = rows(j)[k]
};

struct Product {
  int64_t M = 0, N = 0, K = 0;
  LeftOperand a;
  RightOperand b;
  const float* bias = nullptr;  // [N] or null
  bool add = false;             // to what is in c
  bool sharp = false;           // then a is not transposed, b is, both have rows, and add is false
};

// The packed form of w [N, K]: 64 bytes that name its type (f32 or bf16), then the panels of
// b[k, j] = w[j * K + k], rounded to nearest even.
size_t packed_weight_bytes(const Kernels& kernels, int64_t N, int64_t K, DType type);
void pack_weights(CpuContext& context, void* to, const float* w, int64_t N, int64_t K, DType type);
Panels panels_in(const void* packed);  // null: none

// Bytes of thread scratch for matmul_block.
size_t matmul_scratch_bytes();

// Rows m0 .. m1 and columns n0 .. n1 of a product, on one thread. n0 is a multiple of tile_cols; c points at
// element (m0, n0).
void matmul_block(const Kernels& kernels, float* scratch, const Product& p, int64_t m0, int64_t m1,
                  int64_t n0, int64_t n1, float* c, int64_t c_stride);

// The whole product on the context's threads.
void matmul(CpuContext& context, const Product& p, float* c, int64_t c_stride);

void linear_forward(CpuContext& context, float* y, const float* x, const float* w, const void* packed,
                    const float* bias, int64_t T, int64_t N, int64_t K);
void linear_backward_input(CpuContext& context, float* dx, const float* dy, const float* w, int64_t T,
                           int64_t N, int64_t K, bool accumulate);
void linear_backward_weight(CpuContext& context, float* dw, float* dbias, const float* dy, const float* x,
                            int64_t T, int64_t N, int64_t K);

}  // namespace skillgate
