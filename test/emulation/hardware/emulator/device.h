// Found in place of the emulator's header where the tests run on a GPU: nothing of a GPU can be set, and its faults are CUDA errors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace emulation {

// Settings of the emulated device that tests change; a GPU does not look at them.
struct Settings {
  uint64_t seed = 1;
  int compute_major = 9;
  size_t reported_shared = 227 << 10;
};
Settings& settings();

// The error that the device is in, if any.
std::vector<std::string> take_faults();

bool is_device_memory(const void* p);

}  // namespace emulation
