// The kernels compiled for AVX2 with FMA.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "cpu/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SKILLGATE_TARGET avx2
#define SKILLGATE_KERNELS_AVX2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#include "cpu/matmul_kernel.h"
#include "cpu/optimizer_kernel.h"
#include "cpu/rows_kernel.h"
#include "cpu/softmax_kernel.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace skillgate {

constinit const Kernels kKernelsAvx2 = [] {
  Kernels k{};
  k.set = InstructionSet::avx2;
  avx2::fill_matmul(k);
  avx2::fill_rows(k);
  avx2::fill_softmax(k);
  avx2::fill_optimizer(k);
  return k;
}();

}  // namespace skillgate

#endif
