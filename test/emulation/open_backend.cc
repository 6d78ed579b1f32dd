// The registry of this executable. "cuda" is the CUDA backend on the emulated device. "cpu" is the same in
// fp32, taking host memory too: so the tests that test/native has for the ops and the policy run on it as
// they are, and what they say of numbers of threads is said here of orders of threads.
#include <string>

#include "backend/backend.h"
#include "backend/status.h"
#include "cpu/instruction_set.h"
#include "emulator/device.h"
#include "host_memory_backend.h"

namespace skillgate {

std::unique_ptr<Backend> open_cuda_backend(const BackendOptions& options);

std::unique_ptr<Backend> open_backend(const std::string& device, const BackendOptions& options) {
  if (device == "cuda") return open_cuda_backend(options);
  if (device == "cpu") {
    BackendOptions fp32 = options;
    fp32.precision = "fp32";
    emulation::settings().seed = static_cast<uint64_t>(options.threads);
    return test::with_host_memory(open_cuda_backend(fp32));
  }
  throw Failure("ERR_INVALID_OPTION", "expected device \"cpu\" or \"cuda\", got \"" + device + "\"");
}

// The tests ask which instruction sets there are to go through: here one.
const char* instruction_set_name(InstructionSet) {
  return "emulated cuda";
}
bool instruction_set_supported(InstructionSet set) {
  return set == InstructionSet::portable;
}

}  // namespace skillgate
