// Matrix products: c [M, N] = (or +=) a [M, K] . b [K, N] + bias [N].
//
// Every element is summed in one order that depends on K alone: blocks of kBlockK from k = 0, each one chain
// of fused multiply-adds from 0, added to the element in turn (the first one to what is there if adding), the
// bias last. Tiling, packing, the number of rows and threads do not enter.
#pragma once
#include <cstdint>

#include "cpu/context.h"

namespace skillgate {

constexpr int64_t kBlockK = 256;
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

struct RightOperand {
  const float* packed =
      nullptr;  // panels of tile_cols columns, each [K, tile_cols], zero-filled; else `rows`
  RowSource rows;
  bool transposed = false;  // false: b[k, j] = rows(k)[j]; true: b[k, j] = rows(j)[k]
};

size_t packed_floats(const Kernels& kernels, int64_t N, int64_t K);
// to = panels of b[k, j] = w[j * K + k].
void pack_weights(CpuContext& context, float* to, const float* w, int64_t N, int64_t K);

// Bytes of thread scratch for matmul_block.
size_t matmul_scratch_bytes();

// The part of rows m0 .. m1 and columns n0 .. n1 of a product, on one thread. n0 is a multiple of tile_cols;
// c points at element (m0, n0) and bias at column 0.
void matmul_block(const Kernels& kernels, float* scratch, const LeftOperand& a, const RightOperand& b,
                  int64_t m0, int64_t m1, int64_t n0, int64_t n1, int64_t N, int64_t K, float* c,
                  int64_t c_stride, bool add, const float* bias);

// The whole product on the context's threads.
void matmul(CpuContext& context, int64_t M, int64_t N, int64_t K, const LeftOperand& a, const RightOperand& b,
            float* c, int64_t c_stride, bool add, const float* bias);

void linear_forward(CpuContext& context, float* y, const float* x, const float* w, const float* packed,
                    const float* bias, int64_t T, int64_t N, int64_t K);
void linear_backward_input(CpuContext& context, float* dx, const float* dy, const float* w, int64_t T,
                           int64_t N, int64_t K, bool accumulate);
void linear_backward_weight(CpuContext& context, float* dw, float* dbias, const float* dy, const float* x,
                            int64_t T, int64_t N, int64_t K);

}  // namespace skillgate
