#include "cpu/kernels.h"

#include <cmath>
#include <limits>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

// exp of one vector's worth and a partial one, through the kernel that is nothing but exp.
std::vector<float> exp_of(const Kernels& k, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  k.softmax_weights(y.data(), x.data(), static_cast<int64_t>(x.size()), 1.f, 0.f);
  return y;
}

}  // namespace

TEST(exp_is_right_to_two_ulp) {
  std::vector<float> x;
  for (int i = 0; i <= 191001; ++i) x.push_back(-103.f + static_cast<float>(i) * 1e-3f);
  for (const std::string& set : instruction_sets()) {
    check::Scope scope(set);
    const std::vector<float> y = exp_of(kernels_for(choose_instruction_set(set)), x);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = std::exp(double{x[i]});
      const float near = static_cast<float>(want);
      const double ulp = std::nextafter(near, std::numeric_limits<float>::infinity()) - double{near};
      worst = std::max(worst, std::abs(y[i] - want) / ulp);
    }
    EXPECT_NEAR(worst, 0, 2);
  }
}

TEST(exp_of_the_extremes) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.f,    -0.f, -inf,          inf,   -1e30f, 1e30f,
                                -200.f, 89.f, std::nanf(""), 88.7f, -87.5f};
  for (const std::string& set : instruction_sets()) {
    check::Scope scope(set);
    const std::vector<float> y = exp_of(kernels_for(choose_instruction_set(set)), x);
    EXPECT_EQ(y[0], 1.f);
    EXPECT_EQ(y[1], 1.f);
    EXPECT_EQ(y[2], 0.f);
    EXPECT_EQ(y[3], inf);
    EXPECT_EQ(y[4], 0.f);
    EXPECT_EQ(y[5], inf);
    EXPECT_EQ(y[6], 0.f);
    EXPECT_EQ(y[7], inf);
    EXPECT(std::isnan(y[8]));
    EXPECT(std::isfinite(y[9]));
    EXPECT(y[10] > 0.f);
  }
}

TEST(tiles_cover_their_rows) {
  for (int n = 1; n < 40; ++n) {
    for (int tiles = 1; tiles <= n; ++tiles) {
      EXPECT_EQ(tile_start(n, tiles, 0), 0);
      EXPECT_EQ(tile_start(n, tiles, tiles), n);
      for (int t = 0; t < tiles; ++t) {
        const int size = tile_start(n, tiles, t + 1) - tile_start(n, tiles, t);
        EXPECT(size == n / tiles || size == n / tiles + 1);
      }
    }
  }
}

}  // namespace skillgate::test
