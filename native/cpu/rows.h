// Rows picked by an index, put back, or added (the embedding is one of them); and y += x.
#pragma once
#include <cstdint>

#include "cpu/context.h"

namespace skillgate {

// y[r,:] = x[index[r],:]
void gather_rows(CpuContext& context, float* y, const float* x, const int32_t* index, int64_t R, int64_t D);
// y[index[r],:] = x[r,:]
void scatter_rows(CpuContext& context, float* y, const float* x, const int32_t* index, int64_t R, int64_t D);
// dx[index[r],:] += dy[r,:], rows in order of r
void scatter_add_rows(CpuContext& context, float* dx, const float* dy, const int32_t* index, int64_t R,
                      int64_t D);
// y += x
void add(CpuContext& context, float* y, const float* x, int64_t n);

}  // namespace skillgate
