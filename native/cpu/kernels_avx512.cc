// The kernels compiled for AVX-512 (F, VL, DQ, BW).
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "cpu/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define SKILLGATE_TARGET avx512
#define SKILLGATE_KERNELS_AVX512
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")
#pragma GCC diagnostic ignored "-Wuninitialized"  // false alarms in the compiler's own headers
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
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

constinit const Kernels kKernelsAvx512 = [] {
  Kernels k{};
  k.set = InstructionSet::avx512;
  avx512::fill_matmul(k);
  avx512::fill_rows(k);
  avx512::fill_softmax(k);
  avx512::fill_optimizer(k);
  return k;
}();

}  // namespace skillgate

#endif
