// What the tests ask of the device, answered by a GPU: its settings change nothing, and its faults are CUDA errors.
#include <cuda_runtime.h>

#include "emulator/device.h"

namespace emulation {

Settings& settings() {
  static Settings all;
  return all;
}

Counters& counters() {
  static Counters all;
  return all;
}

std::vector<std::string> take_faults() {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) return {};
  return {cudaGetErrorString(error)};
}

bool is_device_memory(const void* p) {
  cudaPointerAttributes attributes{};
  return cudaPointerGetAttributes(&attributes, p) == cudaSuccess && attributes.type == cudaMemoryTypeDevice;
}

}  // namespace emulation
