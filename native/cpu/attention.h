// Causal attention over segments whose keys may lie in several runs of rows.
//
// A query's keys are taken in blocks of kBlockKeys by their position in its segment, in order, whatever rows
// they lie in: scores are one chain over E, each block's exponentials are summed in one order, and the
// running sums shrink when the maximum grows. So a query gives the same bits in a long segment and decoded
// alone.
#pragma once
#include <cstdint>

#include "backend/backend.h"
#include "cpu/context.h"

namespace skillgate {

struct AttentionShape {
  int64_t T, H, G, E, rows;  // rows of k and v
  float scale;
};

void attention_forward(CpuContext& context, float* o, float* lse, const float* q, const float* k,
                       const float* v, const AttentionSpans& spans, const AttentionShape& shape);
void attention_backward(CpuContext& context, float* dq, float* dk, float* dv, const float* d_o,
                        const float* o, const float* lse, const float* q, const float* k, const float* v,
                        const AttentionSpans& spans, const AttentionShape& shape);

}  // namespace skillgate
