// y = gate * sigmoid(gate) * up
#include "cuda/elementwise.cuh"
#include "cuda/ops.h"

namespace skillgate::cuda {
namespace {

__device__ __forceinline__ float sigmoid(float x) {
  return 1.f / (1.f + expf(-x));
}

struct Forward {
  float* y;
  const float *gate, *up;
  __device__ void operator()(int64_t i) const { y[i] = gate[i] * sigmoid(gate[i]) * up[i]; }
};

struct Backward {
  float *dgate, *dup;
  const float *dy, *gate, *up;
  __device__ void operator()(int64_t i) const {
    const float g = gate[i], s = sigmoid(g), d = dy[i], u = up[i];
    dup[i] = d * g * s;
    dgate[i] = d * u * s * (1.f + g * (1.f - s));
  }
};

}  // namespace

void swiglu_forward(Context& context, Tensor y, Tensor gate, Tensor up) {
  elementwise(context, "swiglu_forward", y.count(), Forward{y.f32(), gate.f32(), up.f32()});
}

void swiglu_backward(Context& context, Tensor dgate, Tensor dup, Tensor dy, Tensor gate, Tensor up) {
  elementwise(context, "swiglu_backward", dy.count(),
              Backward{dgate.f32(), dup.f32(), dy.f32(), gate.f32(), up.f32()});
}

}  // namespace skillgate::cuda
