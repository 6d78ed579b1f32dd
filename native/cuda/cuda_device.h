// Finding a GPU, or saying in plain words why there is none.
#pragma once
#include <cstddef>
#include <string>

namespace skillgate::cuda {

struct DeviceInfo {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  size_t shared_memory = 0;  // bytes that one block may ask for
  size_t memory = 0;         // bytes
};

// The first visible GPU. Failure ERR_NO_DEVICE: no driver, a driver that is too old, no visible GPU, or a GPU
// that this build has no code for.
DeviceInfo open_device();

}  // namespace skillgate::cuda
