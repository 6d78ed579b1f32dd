#include <cmath>
#include <limits>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {

TEST(three_steps_of_a_clipped_gradient) {
  const int64_t n = 5003;
  AdamWOptions o;
  o.learning_rate = 1e-2f;
  o.max_grad_norm = 2.f;
  double squares = 16;
  const double scale = 2 / (4 + 1e-6);
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
        backend->adamw(view(w), view(g), view(m), view(v), Tensor(&squares, DType::f64, {1}), o);
        for (int64_t i = 0; i < n; ++i) {
          const double x = scale * g[i], b1 = o.beta1, b2 = o.beta2;
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

// What the gradient is scaled by, seen in the first moment of a first step.
TEST(the_gradient_is_scaled_where_its_norm_is_larger) {
  struct Case {
    float max_grad_norm;
    double squares;
    float scale;
  };
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Case cases[] = {{1, 0.25, 1},     {1, 1, 1},        {0, 100, 1}, {2, 100, 0.2f},
                        {1, infinity, 0}, {0, infinity, 0}, {1, nan, 0}, {0, nan, 0}};
  for (const Case& c : cases)
    for_each_backend([&](Backend& b) {
      AdamWOptions o;
      o.max_grad_norm = c.max_grad_norm;
      const int64_t n = 70;
      std::vector<float> w(n, 1.f), g(n, 3.f), m(n, 0.f), v(n, 0.f);
      double squares = c.squares;
      const auto view = [&](std::vector<float>& x) { return Tensor(x.data(), DType::f32, {n}); };
      b.adamw(view(w), view(g), view(m), view(v), Tensor(&squares, DType::f64, {1}), o);
      for (const float x : m) EXPECT_NEAR(x, c.scale * 3 * (1 - o.beta1), 1e-6);
      EXPECT((w == std::vector<float>(n, 1.f)) == (c.scale == 0));
      EXPECT((v == std::vector<float>(n, 0.f)) == (c.scale == 0));
      std::vector<float> w2(n, 1.f), m2(n, 0.f), v2(n, 0.f);
      b.adamw(view(w2), view(g), view(m2), view(v2), {}, o);
      for (const float x : m2) EXPECT_NEAR(x, 3 * (1 - o.beta1), 1e-6);
    });
}

TEST(sum_of_squares) {
  for (int64_t n : {1, 7, 8, 1000, 16384, 16385, 100003}) {
    Random random(3);
    std::vector<float> x = random.normals(n, 1e20f);
    double want = 0;
    for (float v : x) want += double{v} * v;
    double first = 0;
    for_each_backend([&](Backend& b) {
      double got = -1;
      b.sum_of_squares(Tensor(&got, DType::f64, {1}), Tensor(x.data(), DType::f32, {n}));
      EXPECT_NEAR(got / want, 1, 1e-12);
      if (first == 0) first = got;
      EXPECT_EQ(got, first);
    });
    for (float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
      std::vector<float> y = x;
      y[n / 2] = bad;
      for_each_backend([&](Backend& b) {
        double sum = 0;
        b.sum_of_squares(Tensor(&sum, DType::f64, {1}), Tensor(y.data(), DType::f32, {n}));
        EXPECT(!std::isfinite(sum));
      });
    }
  }
}

}  // namespace skillgate::test
