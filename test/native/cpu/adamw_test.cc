#include <cmath>
#include <limits>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {

TEST(three_steps) {
  const int64_t n = 5003;
  AdamWOptions o;
  o.learning_rate = 1e-2f;
  o.gradient_scale = 0.5f;
  for (const std::string& set : instruction_sets()) {
    std::vector<float> first;
    for (int threads : {1, 2, 4}) {
      check::Scope scope(set + ", threads " + std::to_string(threads));
      auto backend = open_cpu(set, threads);
      Random random(6);
      std::vector<float> w = random.normals(n), m(static_cast<size_t>(n), 0.f), v = m;
      Doubles dw = widen(w), dm = widen(m), dv = widen(v);
      for (o.step = 1; o.step <= 3; ++o.step) {
        std::vector<float> g = random.normals(n);
        const auto view = [&](std::vector<float>& x) { return Tensor(x.data(), DType::f32, {n}); };
        backend->adamw(view(w), view(g), view(m), view(v), o);
        for (int64_t i = 0; i < n; ++i) {
          const double x = double{o.gradient_scale} * g[i], b1 = o.beta1, b2 = o.beta2;
          dm[i] = b1 * dm[i] + (1 - b1) * x;
          dv[i] = b2 * dv[i] + (1 - b2) * x * x;
          const double steps = static_cast<double>(o.step);
          const double step =
              dm[i] / (1 - std::pow(b1, steps)) / (std::sqrt(dv[i] / (1 - std::pow(b2, steps))) + o.eps);
          dw[i] -= double{o.learning_rate} * o.weight_decay * dw[i] + o.learning_rate * step;
        }
      }
      EXPECT_NEAR(relative_distance(w.data(), dw), 0, 2e-7);
      EXPECT_NEAR(relative_distance(m.data(), dm), 0, 1e-6);
      EXPECT_NEAR(relative_distance(v.data(), dv), 0, 2e-6);
      if (threads == 1) first = w;
      EXPECT(w == first);
    }
  }
}

TEST(sum_of_squares) {
  for (int64_t n : {1, 7, 8, 1000, 16384, 16385, 100003}) {
    Random random(3);
    std::vector<float> x = random.normals(n, 1e20f);
    double want = 0;
    for (float v : x) want += double{v} * v;
    double first = 0;
    for_each_backend([&](Backend& b) {
      const double got = b.sum_of_squares(Tensor(x.data(), DType::f32, {n}));
      EXPECT_NEAR(got / want, 1, 1e-12);
      if (first == 0) first = got;
      EXPECT_EQ(got, first);
    });
    for (float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
      std::vector<float> y = x;
      y[n / 2] = bad;
      for_each_backend(
          [&](Backend& b) { EXPECT(!std::isfinite(b.sum_of_squares(Tensor(y.data(), DType::f32, {n})))); });
    }
  }
}

}  // namespace skillgate::test
