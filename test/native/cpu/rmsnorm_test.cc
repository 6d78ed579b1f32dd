#include <cmath>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

const std::vector<Shape> kShapes = {{.T = 1, .D = 2},    {.T = 3, .D = 17},   {.T = 64, .D = 64},
                                    {.T = 131, .D = 16}, {.T = 2500, .D = 8}, {.T = 40, .D = 331}};
constexpr float kEps = 1e-5f;

Doubles norm(const Shape& s, const Doubles& x, const Doubles& w) {
  Doubles y(x.size());
  for (int64_t t = 0; t < s.T; ++t) {
    double squares = 0;
    for (int64_t d = 0; d < s.D; ++d) squares += x[t * s.D + d] * x[t * s.D + d];
    const double r = 1 / std::sqrt(squares / static_cast<double>(s.D) + kEps);
    for (int64_t d = 0; d < s.D; ++d) y[t * s.D + d] = x[t * s.D + d] * r * w[d];
  }
  return y;
}

std::vector<float> rstd_of(const Shape& s, const std::vector<float>& x) {
  std::vector<float> rstd;
  for (int64_t t = 0; t < s.T; ++t) {
    double squares = 0;
    for (int64_t d = 0; d < s.D; ++d) squares += double{x[t * s.D + d]} * x[t * s.D + d];
    rstd.push_back(static_cast<float>(1 / std::sqrt(squares / static_cast<double>(s.D) + kEps)));
  }
  return rstd;
}

std::vector<Doubles> slopes(const Shape& s, const std::vector<Input>& in) {
  Doubles dx(static_cast<size_t>(s.T * s.D)), dw(static_cast<size_t>(s.D));
  for (int64_t t = 0; t < s.T; ++t) {
    const float *dy = &in[0].values[t * s.D], *x = &in[1].values[t * s.D], *w = in[2].values.data();
    double squares = 0, projection = 0;
    for (int64_t d = 0; d < s.D; ++d) {
      squares += double{x[d]} * x[d];
      projection += double{dy[d]} * w[d] * x[d];
    }
    const double r = 1 / std::sqrt(squares / static_cast<double>(s.D) + kEps);
    for (int64_t d = 0; d < s.D; ++d) {
      dx[t * s.D + d] = r * (double{dy[d]} * w[d] - x[d] * projection * r * r / static_cast<double>(s.D));
      dw[d] += double{dy[d]} * x[d] * r;
    }
  }
  return {dx, dw};
}

std::vector<Input> backward_inputs(const Shape& s, Random& r) {
  std::vector<Input> in = {
      {r.normals(s.T * s.D), {}, s.D}, {r.normals(s.T * s.D), {}, s.D}, {r.normals(s.D), {}, 0}};
  in.push_back({rstd_of(s, in[1].values), {}, 1});
  return in;
}

OpCase backward(bool accumulate) {
  return {"rmsnorm_backward",
          kShapes,
          backward_inputs,
          [=](const Shape& s) {
            return std::vector<Output>{{s.T * s.D, 0, accumulate}, {s.D, 0, true}};
          },
          [=](const Call& c) {
            const Shape& s = c.shape;
            c.backend.rmsnorm_backward(c.out(0, {s.T, s.D}), c.out(1, {s.D}), c.in(0, {s.T, s.D}),
                                       c.in(1, {s.T, s.D}), c.in(2, {s.D}), c.in(3, {s.T}), accumulate);
          },
          slopes,
          3e-6};
}

}  // namespace

TEST(forward) {
  check_op({"rmsnorm_forward", kShapes,
            [](const Shape& s, Random& r) {
              return std::vector<Input>{{r.normals(s.T * s.D), {}, s.D}, {r.normals(s.D), {}, 0}};
            },
            [](const Shape& s) {
              return std::vector<Output>{{s.T * s.D, s.D, false}, {s.T, 1, false}};
            },
            [](const Call& c) {
              const Shape& s = c.shape;
              c.backend.rmsnorm_forward(c.out(0, {s.T, s.D}), c.out(1, {s.T}), c.in(0, {s.T, s.D}),
                                        c.in(1, {s.D}), kEps);
            },
            [](const Shape& s, const std::vector<Input>& in) {
              return std::vector<Doubles>{norm(s, widen(in[0].values), widen(in[1].values)),
                                          widen(rstd_of(s, in[0].values))};
            },
            1e-6});
}

TEST(backward) {
  check_op(backward(false));
}
TEST(backward_accumulates) {
  check_op(backward(true));
}

TEST(a_zero_row_is_not_divided_by_zero) {
  for_each_backend([](Backend& b) {
    std::vector<float> x(20, 0.f), w(20, 1.f), y(20, 9.f), rstd(1);
    b.rmsnorm_forward(Tensor(y.data(), DType::f32, {1, 20}), Tensor(rstd.data(), DType::f32, {1}),
                      Tensor(x.data(), DType::f32, {1, 20}), Tensor(w.data(), DType::f32, {20}), kEps);
    for (float v : y) EXPECT_EQ(v, 0.f);
  });
}

TEST(the_reference_gradient_is_the_slope_of_the_reference) {
  const Shape s = {.T = 3, .D = 5};
  Random random(2);
  const std::vector<Input> in = backward_inputs(s, random);
  const std::vector<Doubles> analytic = slopes(s, in);
  const Doubles x = widen(in[1].values), w = widen(in[2].values);
  const Doubles dx = numeric_gradient([&](const Doubles& v) { return norm(s, v, w); }, x, in[0].values);
  const Doubles dw = numeric_gradient([&](const Doubles& v) { return norm(s, x, v); }, w, in[0].values);
  for (size_t i = 0; i < dx.size(); ++i) EXPECT_NEAR(analytic[0][i], dx[i], 1e-6);
  for (size_t i = 0; i < dw.size(); ++i) EXPECT_NEAR(analytic[1][i], dw[i], 1e-6);
}

}  // namespace skillgate::test
