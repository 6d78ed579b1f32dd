// The optimizer step, one thread a weight.
#include <cmath>

#include "cuda/elementwise.cuh"
#include "cuda/ops.h"

namespace skillgate::cuda {
namespace {

struct Step {
  float *w, *m, *v;
  const float* grad;
  float learning_rate, beta1, beta2, eps, weight_decay, gradient_scale;
  float first_correction, second_correction;  // 1 / (1 - beta^step)
  __device__ void operator()(int64_t i) const {
    const float g = gradient_scale * grad[i];
    const float first = beta1 * m[i] + (1.f - beta1) * g;
    const float second = beta2 * v[i] + (1.f - beta2) * g * g;
    m[i] = first;
    v[i] = second;
    const float direction = first * first_correction / (sqrtf(second * second_correction) + eps);
    w[i] = w[i] - learning_rate * weight_decay * w[i] - learning_rate * direction;
  }
};

}  // namespace

void adamw(Context& context, Tensor w, Tensor grad, Tensor m, Tensor v, const AdamWOptions& o) {
  auto correction = [&](float beta) {
    return static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(beta), static_cast<double>(o.step))));
  };
  elementwise(context, "adamw", w.count(),
              Step{w.f32(), m.f32(), v.f32(), grad.f32(), o.learning_rate, o.beta1, o.beta2, o.eps,
                   o.weight_decay, o.gradient_scale, correction(o.beta1), correction(o.beta2)});
}

}  // namespace skillgate::cuda
