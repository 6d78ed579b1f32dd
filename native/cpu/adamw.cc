#include "cpu/adamw.h"

#include <cmath>

namespace skillgate {

void adamw(CpuContext& context, float* w, const float* grad, float* m, float* v, int64_t n,
           const double* sum_of_squares, const AdamWOptions& o) {
  const double norm = sum_of_squares ? std::sqrt(*sum_of_squares) : 0;
  if (!std::isfinite(norm)) return;
  const double steps = static_cast<double>(o.step);
  AdamWStep step;
  step.learning_rate = o.learning_rate;
  step.beta1 = o.beta1;
  step.beta2 = o.beta2;
  step.eps = o.eps;
  step.weight_decay = o.weight_decay;
  step.gradient_scale = o.max_grad_norm > 0 && norm > o.max_grad_norm
                            ? static_cast<float>(o.max_grad_norm / (norm + 1e-6))
                            : 1.f;
  step.first_correction = static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(o.beta1), steps)));
  step.second_correction = static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(o.beta2), steps)));
  context.for_ranges(n, 4096, n / context.kernels.width * 8, [&](int64_t begin, int64_t end, int) {
    context.kernels.adamw(w + begin, grad + begin, m + begin, v + begin, end - begin, step);
  });
}

}  // namespace skillgate
