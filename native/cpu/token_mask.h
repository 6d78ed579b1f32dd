// Credit of trajectories and reads spread over tokens.
#pragma once
#include <cstdint>

#include "backend/backend.h"

namespace skillgate {

// See TokenMaskArgs. Returns the number of generated tokens.
int64_t token_mask(const TokenMaskArgs& args);

}  // namespace skillgate
