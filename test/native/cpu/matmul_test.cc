#include <cmath>
#include <string>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

// Rows around the tile heights (14, 6), columns around the panel widths (32, 16, 8), K around the block of
// 256.
const std::vector<Shape> kShapes = {
    {.T = 1, .N = 1, .K = 1},     {.T = 1, .N = 131, .K = 17},  {.T = 2, .N = 97, .K = 256},
    {.T = 3, .N = 128, .K = 257}, {.T = 7, .N = 33, .K = 64},   {.T = 14, .N = 64, .K = 64},
    {.T = 17, .N = 17, .K = 17},  {.T = 64, .N = 128, .K = 96}, {.T = 131, .N = 67, .K = 523},
    {.T = 400, .N = 40, .K = 20}, {.T = 5, .N = 300, .K = 700},
};

std::vector<Input> layer(const Shape& s, Random& r, bool bias) {
  std::vector<Input> in = {{r.normals(s.T * s.K), {}, s.K}, {r.normals(s.N * s.K), {}, 0}};
  if (bias) in.push_back({r.normals(s.N), {}, 0});
  return in;
}

std::vector<Doubles> forward(const Shape& s, const std::vector<Input>& in) {
  Doubles y(static_cast<size_t>(s.T * s.N));
  for (int64_t t = 0; t < s.T; ++t) {
    for (int64_t n = 0; n < s.N; ++n) {
      double sum = in.size() > 2 ? in[2].values[n] : 0;
      for (int64_t k = 0; k < s.K; ++k) sum += double{in[0].values[t * s.K + k]} * in[1].values[n * s.K + k];
      y[t * s.N + n] = sum;
    }
  }
  return {y};
}

void run_packed(const Call& c) {
  const Shape& s = c.shape;
  Tensor w = c.in(1, {s.N, s.K});
  std::vector<char> packed(c.backend.packed_bytes(s.N, s.K));
  c.backend.pack(packed.data(), w);
  Tensor bias = c.inputs.size() > 2 ? c.in(2, {s.N}) : Tensor();
  c.backend.linear_forward(c.out(0, {s.T, s.N}), c.in(0, {s.T, s.K}), w, packed.data(), bias);
}

std::vector<Output> rows_of_n(const Shape& s) {
  return {{s.T * s.N, s.N, false}};
}

}  // namespace

TEST(forward) {
  check_op({"linear_forward", kShapes, [](const Shape& s, Random& r) { return layer(s, r, false); },
            rows_of_n, run_packed, forward});
}

TEST(forward_with_bias) {
  check_op({"linear_forward with bias", kShapes, [](const Shape& s, Random& r) { return layer(s, r, true); },
            rows_of_n, run_packed, forward});
}

// Elements on both sides of the size from which they are summed in float64.
TEST(large_elements) {
  OpCase c = {"linear_forward, large",
              kShapes,
              [](const Shape& s, Random& r) {
                std::vector<Input> in = layer(s, r, true);
                for (float& x : in[0].values) x *= 20.f;
                return in;
              },
              rows_of_n,
              run_packed,
              forward,
              1.6e-7};
  check_op(c);
}

TEST(forward_without_packed_weights) {
  check_op({"linear_forward, weights as they are", kShapes,
            [](const Shape& s, Random& r) { return layer(s, r, true); }, rows_of_n,
            [](const Call& c) {
              const Shape& s = c.shape;
              c.backend.linear_forward(c.out(0, {s.T, s.N}), c.in(0, {s.T, s.K}), c.in(1, {s.N, s.K}),
                                       nullptr, c.in(2, {s.N}));
            },
            forward});
}

TEST(packing_changes_no_bit) {
  for_each_backend([](Backend& b) {
    for (const Shape& s : kShapes) {
      Random random(3);
      std::vector<Input> in = layer(s, random, true);
      std::vector<float> y(static_cast<size_t>(s.T * s.N)), z(y.size());
      run_packed({b, s, in, {y.data()}});
      b.linear_forward(Tensor(z.data(), DType::f32, {s.T, s.N}),
                       Tensor(in[0].values.data(), DType::f32, {s.T, s.K}),
                       Tensor(in[1].values.data(), DType::f32, {s.N, s.K}), nullptr,
                       Tensor(in[2].values.data(), DType::f32, {s.N}));
      EXPECT(same_bits(y.data(), z.data(), y.size() * sizeof(float)));
    }
  });
}

// Weights that bf16 holds exactly give the same product, packed as bf16 or as f32; others are rounded to the
// nearest, ties to even.
TEST(bf16_weights_are_the_rounded_ones) {
  for_each_backend([](Backend& b) {
    if (std::string(b.name()) != "cpu") return;  // the others have one form of weights, by their precision
    for (const Shape& s : kShapes) {
      Random random(5);
      std::vector<Input> in = layer(s, random, true);
      std::vector<float> rounded = in[1].values;
      for (float& x : rounded) {
        const double step = std::ldexp(1.0, std::ilogb(x) - 7);
        x = static_cast<float>(std::nearbyint(x / step) * step);
      }
      const Tensor x(in[0].values.data(), DType::f32, {s.T, s.K}),
          bias(in[2].values.data(), DType::f32, {s.N});
      auto product = [&](std::vector<float>& w, DType type) {
        const Tensor weights(w.data(), DType::f32, {s.N, s.K});
        std::vector<char> packed(b.packed_bytes(s.N, s.K, type));
        b.pack(packed.data(), weights, type);
        std::vector<float> y(static_cast<size_t>(s.T * s.N));
        b.linear_forward(Tensor(y.data(), DType::f32, {s.T, s.N}), x, weights, packed.data(), bias);
        return y;
      };
      const std::vector<float> wanted = product(rounded, DType::f32);
      EXPECT(product(rounded, DType::bf16) == wanted);
      EXPECT(product(in[1].values, DType::bf16) == wanted);
    }
  });
}

TEST(bf16_weights_take_half_of_the_memory) {
  for_each_backend([](Backend& b) {
    if (std::string(b.name()) != "cpu") return;
    EXPECT_EQ(b.packed_bytes(640, 512, DType::bf16) - 64, (b.packed_bytes(640, 512) - 64) / 2);
  });
}

TEST(backward_input) {
  for (bool accumulate : {false, true}) {
    check_op({"linear_backward_input", kShapes,
              [](const Shape& s, Random& r) {
                return std::vector<Input>{{r.normals(s.T * s.N), {}, s.N}, {r.normals(s.N * s.K), {}, 0}};
              },
              [=](const Shape& s) {
                return std::vector<Output>{{s.T * s.K, accumulate ? 0 : s.K, accumulate}};
              },
              [=](const Call& c) {
                const Shape& s = c.shape;
                c.backend.linear_backward_input(c.out(0, {s.T, s.K}), c.in(0, {s.T, s.N}),
                                                c.in(1, {s.N, s.K}), nullptr, accumulate);
              },
              [](const Shape& s, const std::vector<Input>& in) {
                Doubles dx(static_cast<size_t>(s.T * s.K));
                for (int64_t t = 0; t < s.T; ++t) {
                  for (int64_t n = 0; n < s.N; ++n) {
                    for (int64_t k = 0; k < s.K; ++k) {
                      dx[t * s.K + k] += double{in[0].values[t * s.N + n]} * in[1].values[n * s.K + k];
                    }
                  }
                }
                return std::vector<Doubles>{dx};
              }});
  }
}

TEST(backward_weight) {
  for (bool bias : {false, true}) {
    check_op({"linear_backward_weight", kShapes,
              [](const Shape& s, Random& r) {
                return std::vector<Input>{{r.normals(s.T * s.N), {}, s.N}, {r.normals(s.T * s.K), {}, s.K}};
              },
              [=](const Shape& s) {
                std::vector<Output> out = {{s.N * s.K, 0, true}};
                if (bias) out.push_back({s.N, 0, true});
                return out;
              },
              [=](const Call& c) {
                const Shape& s = c.shape;
                c.backend.linear_backward_weight(c.out(0, {s.N, s.K}), bias ? c.out(1, {s.N}) : Tensor(),
                                                 c.in(0, {s.T, s.N}), c.in(1, {s.T, s.K}));
              },
              [=](const Shape& s, const std::vector<Input>& in) {
                Doubles dw(static_cast<size_t>(s.N * s.K)), db(static_cast<size_t>(s.N));
                for (int64_t t = 0; t < s.T; ++t) {
                  for (int64_t n = 0; n < s.N; ++n) {
                    db[n] += in[0].values[t * s.N + n];
                    for (int64_t k = 0; k < s.K; ++k) {
                      dw[n * s.K + k] += double{in[0].values[t * s.N + n]} * in[1].values[t * s.K + k];
                    }
                  }
                }
                return bias ? std::vector<Doubles>{dw, db} : std::vector<Doubles>{dw};
              }});
  }
}

}  // namespace skillgate::test
