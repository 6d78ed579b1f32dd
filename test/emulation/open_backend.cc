// The registry of this executable: the CUDA backend, on the emulated device, is all there is.
#include "backend/backend.h"
#include "backend/status.h"

namespace skillgate {

std::unique_ptr<Backend> open_cuda_backend(const BackendOptions& options);

std::unique_ptr<Backend> open_backend(const std::string& device, const BackendOptions& options) {
  if (device == "cuda") return open_cuda_backend(options);
  throw Failure("ERR_INVALID_OPTION", "expected device \"cuda\", got \"" + device + "\"");
}

}  // namespace skillgate
