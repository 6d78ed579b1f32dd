// The optimizer step, one thread a weight.
#include <cmath>

#include "cuda/elementwise.cuh"
#include "cuda/ops.h"

namespace skillgate::cuda {
namespace {

struct Step {
  float *w, *m, *v;
  const float* grad;
  const float* gradient_scale;  // NaN: nothing changes
  float learning_rate, beta1, beta2, eps, weight_decay;
  float first_correction, second_correction;  // 1 / (1 - beta^step)
  __device__ void operator()(int64_t i) const {
    const float scale = *gradient_scale;
    if (isnan(scale)) return;
    const float g = scale * grad[i];
    const float first = beta1 * m[i] + (1.f - beta1) * g;
    const float second = beta2 * v[i] + (1.f - beta2) * g * g;
    m[i] = first;
    v[i] = second;
    const float direction = first * first_correction / (sqrtf(second * second_correction) + eps);
    w[i] = w[i] - learning_rate * weight_decay * w[i] - learning_rate * direction;
  }
};

// One thread: the norm is needed once, and the host does not wait for it.
__global__ void gradient_scale_kernel(float* scale, const double* sum_of_squares, double max_grad_norm) {
  const double norm = sum_of_squares ? sqrt(*sum_of_squares) : 0.0;
  *scale = !isfinite(norm)                             ? nanf("")
           : max_grad_norm > 0 && norm > max_grad_norm ? static_cast<float>(max_grad_norm / (norm + 1e-6))
                                                       : 1.f;
}

}  // namespace

void adamw(Context& context, Tensor w, Tensor grad, Tensor m, Tensor v, Tensor sum_of_squares,
           const AdamWOptions& o) {
  Context::Scratch scratch(context);
  float* scale = scratch.take<float>(1);
  context.launch("gradient_scale", gradient_scale_kernel, dim3(1), 1, 0, scale,
                 static_cast<const double*>(sum_of_squares.f64()), static_cast<double>(o.max_grad_norm));
  auto correction = [&](float beta) {
    return static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(beta), static_cast<double>(o.step))));
  };
  elementwise(context, "adamw", w.count(),
              Step{w.f32(), m.f32(), v.f32(), grad.f32(), scale, o.learning_rate, o.beta1, o.beta2, o.eps,
                   o.weight_decay, correction(o.beta1), correction(o.beta2)});
}

}  // namespace skillgate::cuda
