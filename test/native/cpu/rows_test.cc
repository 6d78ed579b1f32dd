#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

// V rows of a table, T picked.
const std::vector<Shape> kShapes = {{.T = 1, .D = 1, .V = 1},
                                    {.T = 17, .D = 5, .V = 3},
                                    {.T = 131, .D = 64, .V = 67},
                                    {.T = 700, .D = 33, .V = 9},
                                    {.T = 64, .D = 400, .V = 1}};

std::vector<Input> picked(const Shape& s, Random& r, bool by_row) {
  std::vector<Input> in = {{r.normals((by_row ? s.T : s.V) * s.D), {}, by_row ? s.D : 0}, {{}, {}, 1}};
  for (int64_t t = 0; t < s.T; ++t) in[1].ids.push_back(static_cast<int32_t>(r.below(s.V)));
  return in;
}

std::vector<Doubles> gathered(const Shape& s, const std::vector<Input>& in) {
  Doubles y;
  for (int32_t id : in[1].ids) {
    for (int64_t d = 0; d < s.D; ++d) y.push_back(in[0].values[id * s.D + d]);
  }
  return {y};
}

std::vector<Doubles> scattered(const Shape& s, const std::vector<Input>& in) {
  Doubles x(static_cast<size_t>(s.V * s.D));
  for (int64_t t = 0; t < s.T; ++t) {
    for (int64_t d = 0; d < s.D; ++d) x[in[1].ids[t] * s.D + d] += in[0].values[t * s.D + d];
  }
  return {x};
}

std::vector<Output> picked_rows(const Shape& s) {
  return {{s.T * s.D, s.D, false}};
}
std::vector<Output> table(const Shape& s) {
  return {{s.V * s.D, 0, true}};
}
std::vector<Input> from_table(const Shape& s, Random& r) {
  return picked(s, r, false);
}
std::vector<Input> from_rows(const Shape& s, Random& r) {
  return picked(s, r, true);
}

}  // namespace

TEST(embedding_forward) {
  check_op({"embedding_forward", kShapes, from_table, picked_rows,
            [](const Call& c) {
              const Shape& s = c.shape;
              c.backend.embedding_forward(c.out(0, {s.T, s.D}), c.in(0, {s.V, s.D}), c.in(1, {s.T}));
            },
            gathered, 0});
}

TEST(embedding_backward) {
  check_op({"embedding_backward", kShapes, from_rows, table,
            [](const Call& c) {
              const Shape& s = c.shape;
              c.backend.embedding_backward(c.out(0, {s.V, s.D}), c.in(0, {s.T, s.D}), c.in(1, {s.T}));
            },
            scattered});
}

TEST(gather_rows) {
  check_op({"gather_rows", kShapes, from_table, picked_rows,
            [](const Call& c) {
              const Shape& s = c.shape;
              c.backend.gather_rows(c.out(0, {s.T, s.D}), c.in(0, {s.V, s.D}), c.in(1, {s.T}));
            },
            gathered, 0});
}

TEST(scatter_add_rows) {
  check_op({"scatter_add_rows", kShapes, from_rows, table,
            [](const Call& c) {
              const Shape& s = c.shape;
              c.backend.scatter_add_rows(c.out(0, {s.V, s.D}), c.in(0, {s.T, s.D}), c.in(1, {s.T}));
            },
            scattered});
}

TEST(scatter_rows_puts_back_what_gather_took) {
  for_each_backend([](Backend& b) {
    Random random(1);
    const int64_t R = 37, D = 19;
    std::vector<float> x = random.normals(R * D), taken(x.size()), back(x.size(), 0.f);
    std::vector<int32_t> index(static_cast<size_t>(R));
    for (int64_t r = 0; r < R; ++r) index[r] = static_cast<int32_t>((r * 10 + 3) % R);
    const Tensor i(index.data(), DType::i32, {R});
    b.gather_rows(Tensor(taken.data(), DType::f32, {R, D}), Tensor(x.data(), DType::f32, {R, D}), i);
    b.scatter_rows(Tensor(back.data(), DType::f32, {R, D}), Tensor(taken.data(), DType::f32, {R, D}), i);
    EXPECT(back == x);
  });
}

TEST(rows_of_higher_rank) {
  for_each_backend([](Backend& b) {
    std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, y(8);
    std::vector<int32_t> index = {2, 0};
    b.gather_rows(Tensor(y.data(), DType::f32, {2, 2, 2}), Tensor(x.data(), DType::f32, {3, 2, 2}),
                  Tensor(index.data(), DType::i32, {2}));
    EXPECT(y == std::vector<float>({8, 9, 10, 11, 0, 1, 2, 3}));
  });
}

TEST(add) {
  check_op(
      {"add",
       {{.T = 1, .D = 1}, {.T = 131, .D = 97}},
       [](const Shape& s, Random& r) {
         return std::vector<Input>{{r.normals(s.T * s.D), {}, s.D}};
       },
       [](const Shape& s) {
         return std::vector<Output>{{s.T * s.D, 0, true}};
       },
       [](const Call& c) {
         c.backend.add(c.out(0, {c.shape.T, c.shape.D}), c.in(0, {c.shape.T, c.shape.D}));
       },
       [](const Shape&, const std::vector<Input>& in) { return std::vector<Doubles>{widen(in[0].values)}; }});
}

}  // namespace skillgate::test
