#include <cmath>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

const std::vector<Shape> kShapes = {
    {.T = 1, .D = 1}, {.T = 7, .D = 17}, {.T = 64, .D = 128}, {.T = 131, .D = 97}};

std::vector<Input> inputs(const Shape& s, Random& r, int count) {
  std::vector<Input> in;
  for (int i = 0; i < count; ++i) in.push_back({r.normals(s.T * s.D, 3.f), {}, s.D});
  return in;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

TEST(forward) {
  check_op({"swiglu_forward", kShapes, [](const Shape& s, Random& r) { return inputs(s, r, 2); },
            [](const Shape& s) {
              return std::vector<Output>{{s.T * s.D, s.D, false}};
            },
            [](const Call& c) {
              const Shape& s = c.shape;
              c.backend.swiglu_forward(c.out(0, {s.T, s.D}), c.in(0, {s.T, s.D}), c.in(1, {s.T, s.D}));
            },
            [](const Shape&, const std::vector<Input>& in) {
              Doubles y;
              for (size_t i = 0; i < in[0].values.size(); ++i) {
                const double g = in[0].values[i];
                y.push_back(g * sigmoid(g) * in[1].values[i]);
              }
              return std::vector<Doubles>{y};
            }});
}

TEST(backward) {
  check_op({"swiglu_backward", kShapes, [](const Shape& s, Random& r) { return inputs(s, r, 3); },
            [](const Shape& s) {
              return std::vector<Output>{{s.T * s.D, s.D, false}, {s.T * s.D, s.D, false}};
            },
            [](const Call& c) {
              const Shape& s = c.shape;
              c.backend.swiglu_backward(c.out(0, {s.T, s.D}), c.out(1, {s.T, s.D}), c.in(0, {s.T, s.D}),
                                        c.in(1, {s.T, s.D}), c.in(2, {s.T, s.D}));
            },
            [](const Shape&, const std::vector<Input>& in) {
              Doubles dgate, dup;
              for (size_t i = 0; i < in[0].values.size(); ++i) {
                const double dy = in[0].values[i], g = in[1].values[i], u = in[2].values[i], step = 1e-5;
                auto y = [&](double gate) { return gate * sigmoid(gate) * u; };
                dgate.push_back(dy * (y(g + step) - y(g - step)) / (2 * step));
                dup.push_back(dy * g * sigmoid(g));
              }
              return std::vector<Doubles>{dgate, dup};
            }});
}

TEST(far_gates) {
  std::vector<float> gate = {-1000.f, -90.f, 0.f, 90.f, 1000.f}, up(5, 2.f), y(5);
  for_each_backend([&](Backend& b) {
    const auto row = [](std::vector<float>& x) { return Tensor(x.data(), DType::f32, {1, 5}); };
    b.swiglu_forward(row(y), row(gate), row(up));
    EXPECT_EQ(y[0], 0.f);
    EXPECT_NEAR(y[1], 0, 1e-30);
    EXPECT_EQ(y[2], 0.f);
    EXPECT_EQ(y[3], 180.f);
    EXPECT_EQ(y[4], 2000.f);
  });
}

}  // namespace skillgate::test
