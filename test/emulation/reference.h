// Each op in float64, as backend/backend.h defines it, in plain loops.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "op_cases.h"

namespace skillgate::test {

using Floats = std::vector<float>;

// || got - want || / || want ||, and the largest | got - want |; NaN where got has one, infinite where
// lengths differ.
double distance(const Floats& got, const Doubles& want);
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
