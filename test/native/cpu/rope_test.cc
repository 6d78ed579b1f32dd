#include <cmath>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

const std::vector<Shape> kShapes = {{.T = 1, .H = 1, .E = 2},
                                    {.T = 17, .H = 3, .E = 8},
                                    {.T = 64, .H = 4, .E = 64},
                                    {.T = 131, .H = 2, .E = 22},
                                    {.T = 5, .H = 1, .E = 256}};
constexpr int64_t kPositions = 300;

// The op works in place: input 0 is copied to the output first.
OpCase rotation(bool inverse) {
  return {"rope",
          kShapes,
          [](const Shape& s, Random& r) {
            const int64_t half = s.E / 2;
            std::vector<Input> in = {
                {r.normals(s.T * s.H * s.E), {}, s.H * s.E}, {{}, {}, 0}, {{}, {}, 0}, {{}, {}, 1}};
            for (int64_t p = 0; p < kPositions; ++p) {
              for (int64_t i = 0; i < half; ++i) {
                const double angle = static_cast<double>(p) * std::pow(1e4, -static_cast<double>(i) / half);
                in[1].values.push_back(static_cast<float>(std::cos(angle)));
                in[2].values.push_back(static_cast<float>(std::sin(angle)));
              }
            }
            for (int64_t t = 0; t < s.T; ++t) in[3].ids.push_back(static_cast<int32_t>(r.below(kPositions)));
            return in;
          },
          [](const Shape& s) {
            return std::vector<Output>{{s.T * s.H * s.E, s.H * s.E, false}};
          },
          [=](const Call& c) {
            const Shape& s = c.shape;
            std::copy(c.inputs[0].values.begin(), c.inputs[0].values.end(), c.outputs[0]);
            c.backend.rope(c.out(0, {s.T, s.H, s.E}), c.in(1, {kPositions, s.E / 2}),
                           c.in(2, {kPositions, s.E / 2}), c.in(3, {s.T}), inverse);
          },
          [=](const Shape& s, const std::vector<Input>& in) {
            const int64_t half = s.E / 2;
            Doubles y = widen(in[0].values);
            for (int64_t t = 0; t < s.T; ++t) {
              for (int64_t h = 0; h < s.H; ++h) {
                for (int64_t i = 0; i < half; ++i) {
                  const int64_t at = in[3].ids[t] * half + i;
                  const double c = in[1].values[at], n = inverse ? -in[2].values[at] : in[2].values[at];
                  double &a = y[(t * s.H + h) * s.E + i], &b = y[(t * s.H + h) * s.E + half + i];
                  const double rotated = a * c - b * n;
                  b = b * c + a * n;
                  a = rotated;
                }
              }
            }
            return std::vector<Doubles>{y};
          }};
}

}  // namespace

TEST(forward) {
  check_op(rotation(false));
}
TEST(inverse) {
  check_op(rotation(true));
}

}  // namespace skillgate::test
