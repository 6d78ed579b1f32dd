// Each op in float64, as backend/backend.h defines it, in plain loops.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "model/token_rows.h"

namespace skillgate::test {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

// Numbers that depend on the seed alone.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t bits();
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  Floats normals(int64_t n, float scale = 1.f);
  std::vector<int32_t> ids(int64_t n, int64_t below);

 private:
  uint64_t state_;
};

// || got - want || / || want ||; NaN where got has one.
double relative_distance(const Floats& got, const Doubles& want);
double largest_difference(const Floats& got, const Doubles& want);
bool same_bits(const Floats& a, const Floats& b);
Doubles plus(const Floats& a, const Doubles& b);

// a [M, K] . b [N, K]^T with the strides of a row-major or a transposed matrix.
struct View {
  const Floats& x;
  int64_t row_stride, column_stride;
  double at(int64_t i, int64_t k) const { return x[static_cast<size_t>(i * row_stride + k * column_stride)]; }
};
Doubles product_reference(View a, View b, int64_t M, int64_t N, int64_t K);

struct AttentionCase {
  int64_t H, G, E, rows;  // rows of k and v
  float scale;
  AttentionSpans spans;
  const Floats &q, &k, &v;
};
void attention_reference(const AttentionCase& c, Doubles& o, Doubles& lse);
void attention_backward_reference(const AttentionCase& c, const Floats& d_o, Doubles& dq, Doubles& dk,
                                  Doubles& dv);

// Results of PolicyLossArgs whose tensors are host memory.
struct LossReference {
  double loss = 0, kl_loss = 0;
  Doubles logprob, entropy, d_hidden, d_lm_head;
  std::vector<int> clipped;
};
LossReference policy_loss_reference(const PolicyLossArgs& args);

}  // namespace skillgate::test
