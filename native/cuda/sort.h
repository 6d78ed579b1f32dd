// Row numbers in the order of their index.
#pragma once
#include "cuda/cuda_context.h"

namespace skillgate::cuda {

// R keys index[r] << 32 | r, ascending, in scratch memory: equal indices stand together, their rows in order.
const uint64_t* sort_by_index(Context& context, Context::Scratch& scratch, const int32_t* index, int64_t R);

}  // namespace skillgate::cuda
