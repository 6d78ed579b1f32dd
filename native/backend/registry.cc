// Opens a backend by its name.
#include "backend/backend.h"
#include "backend/status.h"
#include "cpu/cpu_backend.h"

namespace skillgate {

#if defined(SKILLGATE_WITH_CUDA)
std::unique_ptr<Backend> open_cuda_backend(const BackendOptions& options);
#endif

std::unique_ptr<Backend> open_backend(const std::string& device, const BackendOptions& options) {
  if (device == "cpu") return open_cpu_backend(options);
  if (device == "cuda") {
#if defined(SKILLGATE_WITH_CUDA)
    return open_cuda_backend(options);
#else
    throw Failure("ERR_NO_DEVICE", "this build has no CUDA support; use device \"cpu\"");
#endif
  }
  throw Failure("ERR_INVALID_OPTION", "expected device \"cpu\" or \"cuda\", got \"" + device + "\"");
}

}  // namespace skillgate
