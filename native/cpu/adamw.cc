#include "cpu/adamw.h"

#include <cmath>

namespace skillgate {

void adamw(CpuContext& context, float* w, const float* grad, float* m, float* v, int64_t n,
           const AdamWOptions& o) {
  const double steps = static_cast<double>(o.step);
  AdamWStep step;
  step.learning_rate = o.learning_rate;
  step.beta1 = o.beta1;
  step.beta2 = o.beta2;
  step.eps = o.eps;
  step.weight_decay = o.weight_decay;
  step.gradient_scale = o.gradient_scale;
  step.first_correction = static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(o.beta1), steps)));
  step.second_correction = static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(o.beta2), steps)));
  context.for_ranges(n, 4096, n / context.kernels.width * 8, [&](int64_t begin, int64_t end, int) {
    context.kernels.adamw(w + begin, grad + begin, m + begin, v + begin, end - begin, step);
  });
}

}  // namespace skillgate
