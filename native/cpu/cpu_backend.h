// The CPU as a Backend: float32, vector instructions chosen at run time, a pool of threads.
#pragma once
#include <memory>

#include "backend/backend.h"

namespace skillgate {

// Throws Failure ERR_INVALID_OPTION.
std::unique_ptr<Backend> open_cpu_backend(const BackendOptions& options);

}  // namespace skillgate
