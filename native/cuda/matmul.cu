// The linear layer, and who computes its products.
#include <cmath>
#include <vector>

#include "cuda/column_sums.cuh"
#include "cuda/cublaslt.h"
#include "cuda/matmul.h"

namespace skillgate::cuda {
namespace {

constexpr int kConvertThreads = 256;
// Below these, cuBLASLt gains nothing, and decoding keeps the order of sums that scoring has.
constexpr int64_t kLeastRows = 256, kLeastWidth = 64;

// One thread makes 8 neighbours of a row, 16 bytes.
__global__ void convert_rows_kernel(bf16* to, const float* from, int64_t rows, int64_t columns,
                                    const int32_t* index) {
  const int64_t chunks = ceil_div<int64_t>(columns, 8);
  for (int64_t at = first_element(); at < rows * chunks; at += all_threads()) {
    const int64_t r = at / chunks, c0 = at % chunks * 8;
    const float* row = from + (index ? static_cast<int64_t>(index[r]) : r) * columns;
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = c0 + i < columns ? row[c0 + i] : 0.f;
    *reinterpret_cast<uint4*>(to + at * 8) = make_uint4(pack_bf16(x[0], x[1]), pack_bf16(x[2], x[3]),
                                                        pack_bf16(x[4], x[5]), pack_bf16(x[6], x[7]));
  }
}

bool multiply_with(const CublasLt& cublaslt, Context& context, void* workspace, const Product<bf16>& p) {
  LtProduct lt;
  lt.n = p.N;
  lt.m = p.M;
  lt.k = p.K;
  lt.a = p.right.data;
  lt.a_stride = p.right.stride;
  lt.a_transposed = p.right.k_contiguous;
  lt.b = p.left.data;
  lt.b_stride = p.left.stride;
  lt.b_transposed = !p.left.k_contiguous;
  lt.d = p.out;
  lt.d_stride = p.out_stride;
  lt.bias = p.bias;
  lt.accumulate = p.accumulate;
  return cublaslt.multiply(lt, workspace, context.stream());
}

// x [rows, columns] as an operand whose k runs along columns, or along rows.
Operand<float> operand(const float* x, int64_t columns, bool k_is_column) {
  return {x, columns, k_is_column, nullptr};
}
Operand<bf16> operand(const bf16* x, int64_t columns, bool k_is_column) {
  return {x, bf16_stride(columns), k_is_column, nullptr};
}

const bf16* as_bf16(Context& context, Context::Scratch& scratch, const float* x, int64_t rows,
                    int64_t columns) {
  bf16* copy = scratch.take<bf16>(rows * bf16_stride(columns));
  convert_rows(context, copy, x, rows, columns);
  return copy;
}

struct BiasGradient {
  const float* dy;
  int64_t N;
  __device__ float operator()(int64_t t, int64_t n) const { return dy[t * N + n]; }
};

}  // namespace

void convert_rows(Context& context, bf16* to, const float* from, int64_t rows, int64_t columns,
                  const int32_t* index) {
  const int64_t threads = rows * ceil_div<int64_t>(columns, 8);
  const int64_t blocks = std::min<int64_t>(ceil_div<int64_t>(threads, kConvertThreads), 1 << 20);
  context.launch("convert_rows", convert_rows_kernel, dim3(static_cast<unsigned>(blocks)), kConvertThreads, 0,
                 to, from, rows, columns, index);
}

void multiply(Context& context, const ProductEngine& engine, const Product<bf16>& p) {
  const bool plain = !p.left.rows && !p.right.rows && !p.out_rows && !p.m_count && !p.k_count;
  if (engine.cublaslt && plain && p.M >= kLeastRows && p.N >= kLeastWidth && p.K >= kLeastWidth &&
      !(p.bias && p.accumulate)) {
    Context::Scratch scratch(context);
    if (multiply_with(*engine.cublaslt, context, scratch.take<char>(CublasLt::kWorkspaceBytes), p)) return;
  }
  multiply(context, p);
}

void linear_forward(Context& context, const ProductEngine& engine, Tensor y, Tensor x, Tensor w,
                    const void* packed, Tensor bias) {
  const int64_t N = w.shape[0], K = w.shape[1], T = x.count() / K;
  Context::Scratch scratch(context);
  auto describe = [&](auto left, auto right) {
    Product<std::remove_cv_t<std::remove_pointer_t<decltype(left)>>> p;
    p.M = T;
    p.N = N;
    p.K = K;
    p.left = operand(left, K, true);
    p.right = operand(right, K, true);
    p.out = y.f32();
    p.out_stride = N;
    p.bias = bias.f32();
    return p;
  };
  if (engine.bf16) {
    const bf16* weights =
        packed ? static_cast<const bf16*>(packed) : as_bf16(context, scratch, w.f32(), N, K);
    multiply(context, engine, describe(as_bf16(context, scratch, x.f32(), T, K), weights));
  } else {
    multiply(context, describe(x.f32(), w.f32()));
  }
}

// dx [T, K] = dy [T, N] . w [N, K]: the sum runs over N.
void linear_backward_input(Context& context, const ProductEngine& engine, Tensor dx, Tensor dy, Tensor w,
                           const void* packed, bool accumulate) {
  const int64_t N = w.shape[0], K = w.shape[1], T = dy.count() / N;
  Context::Scratch scratch(context);
  auto describe = [&](auto left, auto right) {
    Product<std::remove_cv_t<std::remove_pointer_t<decltype(left)>>> p;
    p.M = T;
    p.N = K;
    p.K = N;
    p.left = operand(left, N, true);
    p.right = operand(right, K, false);
    p.out = dx.f32();
    p.out_stride = K;
    p.accumulate = accumulate;
    return p;
  };
  if (engine.bf16) {
    const bf16* weights =
        packed ? static_cast<const bf16*>(packed) : as_bf16(context, scratch, w.f32(), N, K);
    multiply(context, engine, describe(as_bf16(context, scratch, dy.f32(), T, N), weights));
  } else {
    multiply(context, describe(dy.f32(), w.f32()));
  }
}

// dw [N, K] += dy [T, N]^T . x [T, K]: the sum runs over T.
void linear_backward_weight(Context& context, const ProductEngine& engine, Tensor dw, Tensor dbias, Tensor dy,
                            Tensor x) {
  const int64_t N = dw.shape[0], K = dw.shape[1], T = x.count() / K;
  Context::Scratch scratch(context);
  auto describe = [&](auto left, auto right) {
    Product<std::remove_cv_t<std::remove_pointer_t<decltype(left)>>> p;
    p.M = N;
    p.N = K;
    p.K = T;
    p.left = operand(left, N, false);
    p.right = operand(right, K, false);
    p.out = dw.f32();
    p.out_stride = K;
    p.accumulate = true;
    return p;
  };
  if (engine.bf16) {
    multiply(context, engine,
             describe(as_bf16(context, scratch, dy.f32(), T, N), as_bf16(context, scratch, x.f32(), T, K)));
  } else {
    multiply(context, describe(dy.f32(), x.f32()));
  }
  if (dbias) add_column_sums(context, "bias_gradient", dbias.f32(), T, N, BiasGradient{dy.f32(), N});
}

// Three forms, with a bias, and adding to what is there; sizes that no tile divides.
std::string check_cublaslt(Context& context, const CublasLt& cublaslt) {
  constexpr int64_t M = 72, N = 40, K = 56;
  constexpr double kTolerance = 1e-3;  // of values around 1: both sum exact products in fp32
  Context::Scratch scratch(context);
  void* workspace = scratch.take<char>(CublasLt::kWorkspaceBytes);
  uint32_t state = 12345;
  auto numbers = [&](int64_t n) {
    std::vector<float> x(static_cast<size_t>(n));
    for (float& v : x) {
      state = state * 1664525u + 1013904223u;
      v = static_cast<float>(static_cast<int>(state >> 24) - 128) / 256.f;  // exact in bf16
    }
    return x;
  };
  for (int form = 0; form < 4; form++) {
    Product<bf16> p;
    p.M = M;
    p.N = N;
    p.K = K;
    const bool left_contiguous = form != 2, right_contiguous = form == 0 || form == 3;
    auto make = [&](int64_t rows, int64_t columns) {
      const std::vector<float> values = numbers(rows * columns);
      return as_bf16(context, scratch, scratch.upload(values.data(), rows * columns), rows, columns);
    };
    const bf16* left = left_contiguous ? make(M, K) : make(K, M);
    const bf16* right = right_contiguous ? make(N, K) : make(K, N);
    p.left = operand(left, left_contiguous ? K : M, left_contiguous);
    p.right = operand(right, right_contiguous ? K : N, right_contiguous);
    p.out_stride = N;
    p.accumulate = form == 2;
    if (form == 3) p.bias = scratch.upload(numbers(N).data(), N);
    const std::vector<float> before = numbers(M * N);
    std::vector<float> got(before.size()), want(before.size());
    p.out = scratch.upload(before.data(), M * N);
    multiply(context, p);
    context.start_download(want.data(), p.out, want.size() * sizeof(float));
    context.upload(p.out, before.data(), before.size() * sizeof(float));
    if (!multiply_with(cublaslt, context, workspace, p)) return "it refuses a plain product";
    context.download(got.data(), p.out, got.size() * sizeof(float));
    for (size_t i = 0; i < want.size(); i++)
      if (!(std::abs(static_cast<double>(got[i]) - want[i]) <= kTolerance))
        return "its self-test gave " + std::to_string(got[i]) + " for " + std::to_string(want[i]);
  }
  return "";
}

}  // namespace skillgate::cuda
