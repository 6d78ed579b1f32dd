// The tensor-core instructions of sm_80 and later: 16x8x16 bf16 products with fp32 sums, loads of their
// operands from shared memory, and copies to shared memory that do not pass through registers.
//
// Fragments, lane = 4 * g + t (g 0..7, t 0..3); each register holds two bf16 of neighbouring k:
//   a[0] (m = g, k = 2t)      a[1] (m = g + 8, k = 2t)   a[2] (m = g, k = 2t + 8)   a[3] (m = g + 8, k = 2t +
//   8) b[0] (k = 2t, n = g)      b[1] (k = 2t + 8, n = g) c[0], c[1] (m = g, n = 2t, 2t + 1) c[2], c[3] (m =
//   g + 8, n = 2t, 2t + 1)
#pragma once
#include "cuda/cuda_common.cuh"

#if defined(SKILLGATE_CUDA_EMULATION)
#include <tensor_core_emulation.h>
#endif

namespace skillgate::cuda {

#if defined(SKILLGATE_CUDA_EMULATION)

using emulation::async_copy_16;
using emulation::async_copy_commit;
using emulation::async_copy_wait;
using emulation::load_matrices_x2;
using emulation::load_matrices_x4;
using emulation::multiply_add;

#else

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// c += a . b
__device__ __forceinline__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Four 8x8 matrices: lanes 8i .. 8i+7 give the 16-byte rows of matrix i, register i of lane 4g+t gets row g,
// columns 2t and 2t+1; transposed: rows 2t and 2t+1 of column g.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices_x4(uint32_t (&r)[4], const void* row) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
  }
}
// Two matrices, from lanes 0 .. 15.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices_x2(uint32_t (&r)[2], const void* row) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];\n"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row)));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];\n"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row)));
  }
}

// 16 bytes to shared memory, of which `valid` (0 to 16) come from `from` and the rest is 0. Both aligned to
// 16 bytes. `from` must be a valid address even if valid is 0.
__device__ __forceinline__ void async_copy_16(void* to, const void* from, int valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(to)), "l"(from),
               "r"(valid)
               : "memory");
}
__device__ __forceinline__ void async_copy_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}
// Waits until at most `kOpen` of the thread's own groups are under way. Others' copies need a barrier too.
template <int kOpen>
__device__ __forceinline__ void async_copy_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kOpen) : "memory");
}

#endif

}  // namespace skillgate::cuda
