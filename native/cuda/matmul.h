// Matrix products: out [M, N] = (or +=) left [M, K] . right [N, K]^T + bias [N].
//
// The built-in products sum each element in one chain over ascending k, whatever the tile, the number of rows
// and their place: so a row has the same bits however it is batched. cuBLASLt, which takes the large products
// in bf16, promises no such order.
#pragma once
#include <cstdint>

#include "backend/tensor.h"
#include "cuda/cuda_context.h"

namespace skillgate::cuda {

class CublasLt;

// Element (i, k), i a row of the left operand or a column of the result for the right one.
template <class T>
struct Operand {
  const T* data = nullptr;
  int64_t stride = 0;             // elements between rows in memory
  bool k_contiguous = true;       // data[i * stride + k]; else data[k * stride + i]
  const int32_t* rows = nullptr;  // device memory: where the r-th row in memory is; null: it is the r-th
};

// In bf16, data is aligned to 16 bytes, stride is a multiple of 8, and where k is contiguous the elements
// from K up to the next multiple of 8 are 0.
template <class T>
struct Product {
  int64_t M = 0, N = 0, K = 0;
  Operand<T> left, right;
  float* out = nullptr;
  int64_t out_stride = 0;
  const int32_t* out_rows = nullptr;  // device memory: row m of the result goes to row out_rows[m]
  const float* bias = nullptr;
  bool accumulate = false;
  const int32_t* m_count = nullptr;  // device memory, at most M: how many rows are really wanted
  const int32_t* k_count = nullptr;  // device memory, at most K: how many of the K terms there are
};

void multiply(Context& context, const Product<bf16>& p);   // matmul_bf16.cu
void multiply(Context& context, const Product<float>& p);  // matmul_fp32.cu

// How products are computed.
struct ProductEngine {
  bool bf16 = true;                    // operands, sums in fp32; false: fp32, sums in float64, for checking
  const CublasLt* cublaslt = nullptr;  // null: the built-in products only
};

// By cuBLASLt where there is one and the product is large and plain enough, else built in.
void multiply(Context& context, const ProductEngine& engine, const Product<bf16>& p);

// Empty where cuBLASLt gives what the built-in product gives on small transposed, non-square cases; else what
// it did.
std::string check_cublaslt(Context& context, const CublasLt& cublaslt);

// Rows of fp32 as bf16, to rows of bf16_stride(columns) elements that are 0 beyond `columns`.
void convert_rows(Context& context, bf16* to, const float* from, int64_t rows, int64_t columns,
                  const int32_t* index = nullptr);  // device memory: row r is read from row index[r]
inline int64_t bf16_stride(int64_t columns) {
  return round_up<int64_t>(columns, 8);
}

// The linear layer of backend.h. `packed` is w as convert_rows makes it, or null.
void linear_forward(Context& context, const ProductEngine& engine, Tensor y, Tensor x, Tensor w,
                    const void* packed, Tensor bias);
void linear_backward_input(Context& context, const ProductEngine& engine, Tensor dx, Tensor dy, Tensor w,
                           const void* packed, bool accumulate);
void linear_backward_weight(Context& context, const ProductEngine& engine, Tensor dw, Tensor dbias, Tensor dy,
                            Tensor x);

}  // namespace skillgate::cuda
