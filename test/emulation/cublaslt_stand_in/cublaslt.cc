// The functions of cuBLASLt that native/cuda/cublaslt.cc calls, on the emulated device: plain loops, put on
// the stream. Built twice: right, and with its transposes ignored.
#include <cstdint>
#include <cstring>

#include "cuda_bf16.h"
#include "emulator/device.h"

namespace {

#if defined(STAND_IN_IS_WRONG)
constexpr bool kRight = false;
#else
constexpr bool kRight = true;
#endif

struct Descriptor {
  int32_t transposed[2] = {0, 0};
  uint32_t epilogue = 1;
  const float* bias = nullptr;
};
struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t stride;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 0xFFFF;
};

float element(const void* data, const Layout& l, bool transposed, int64_t row, int64_t column) {
  const int64_t at = transposed ? row * l.stride + column : column * l.stride + row;
  return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[at]);
}

}  // namespace

extern "C" {

int cublasLtCreate(void** handle) {
  *handle = new int(0);
  return 0;
}
int cublasLtDestroy(void* handle) {
  delete static_cast<int*>(handle);
  return 0;
}
size_t cublasLtGetVersion() {
  return 130002;
}

int cublasLtMatmulDescCreate(void** d, int compute, int scale) {
  if (compute != 68 || scale != 0) return 7;
  *d = new Descriptor;
  return 0;
}
int cublasLtMatmulDescDestroy(void* d) {
  delete static_cast<Descriptor*>(d);
  return 0;
}
int cublasLtMatmulDescSetAttribute(void* descriptor, int attribute, const void* value, size_t bytes) {
  auto* d = static_cast<Descriptor*>(descriptor);
  if (attribute == 3 || attribute == 4) {
    std::memcpy(&d->transposed[attribute - 3], value, bytes);
  } else if (attribute == 7) {
    std::memcpy(&d->epilogue, value, bytes);
  } else if (attribute == 8) {
    std::memcpy(&d->bias, value, bytes);
  } else {
    return 7;
  }
  return 0;
}

int cublasLtMatrixLayoutCreate(void** l, int type, uint64_t rows, uint64_t columns, int64_t stride) {
  if (stride < static_cast<int64_t>(rows)) return 7;
  *l = new Layout{type, rows, columns, stride};
  return 0;
}
int cublasLtMatrixLayoutDestroy(void* l) {
  delete static_cast<Layout*>(l);
  return 0;
}

int cublasLtMatmulPreferenceCreate(void** p) {
  *p = new Preference;
  return 0;
}
int cublasLtMatmulPreferenceDestroy(void* p) {
  delete static_cast<Preference*>(p);
  return 0;
}
int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value, size_t bytes) {
  auto* p = static_cast<Preference*>(preference);
  if (attribute == 1) std::memcpy(&p->workspace, value, bytes);
  if (attribute == 3) std::memcpy(&p->reductions, value, bytes);
  return attribute >= 1 && attribute <= 8 ? 0 : 7;
}

struct HeuristicResult {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void* preference, int wanted,
                                   HeuristicResult* results, int* found) {
  if (wanted < 1 || static_cast<Preference*>(preference)->reductions != 0) return 7;
  results[0] = {};
  results[0].algorithm[0] = 42;
  *found = 1;
  return 0;
}

int cublasLtMatmul(void*, void* descriptor, const void* alpha, const void* a, void* a_layout, const void* b,
                   void* b_layout, const void* beta, const void*, void*, void* d, void* d_layout,
                   const void* algorithm, void*, size_t, void* stream) {
  const Descriptor& op = *static_cast<Descriptor*>(descriptor);
  const Layout la = *static_cast<Layout*>(a_layout), lb = *static_cast<Layout*>(b_layout);
  const Layout ld = *static_cast<Layout*>(d_layout);
  if (*static_cast<const uint64_t*>(algorithm) != 42 || la.type != 14 || lb.type != 14 || ld.type != 0)
    return 7;
  const bool ta = kRight && op.transposed[0], tb = kRight && op.transposed[1];
  const auto n = static_cast<int64_t>(ld.rows), m = static_cast<int64_t>(ld.columns);
  const auto k = static_cast<int64_t>(op.transposed[0] ? la.rows : la.columns);
  const float one = *static_cast<const float*>(alpha), keep = *static_cast<const float*>(beta);
  const float* bias = op.epilogue == 4 ? op.bias : nullptr;
  emulation::enqueue(static_cast<emulation::Stream*>(stream), [=] {
    auto* out = static_cast<float*>(d);
    for (int64_t j = 0; j < m; j++)
      for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t x = 0; x < k; x++) sum += element(a, la, ta, i, x) * element(b, lb, tb, x, j);
        float& at = out[j * ld.stride + i];
        at = one * static_cast<float>(sum) + (bias ? bias[i] : 0.f) + (keep != 0.f ? keep * at : 0.f);
      }
  });
  return 0;
}
}
