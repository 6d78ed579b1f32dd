// The emulated device: what it has, what goes wrong on it, and its streams. Work that is put on a stream runs
// only when somebody waits for it, so that a host that reads too early, or changes pinned memory too early,
// gets the wrong values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace emulation {

struct Event;

struct StreamWork {
  std::function<void()> run;
  Event* event = nullptr;
};

struct Stream {
  std::deque<StreamWork> work;
};

struct Event {
  Stream* stream = nullptr;
  bool done = true;
};

// Set by tests before a backend is opened or an operation runs.
struct Settings {
  uint64_t seed = 1;  // order of blocks and threads
  int devices = 1;
  int driver_version = 13000;  // 1000 * major + 10 * minor; 0: no driver
  int compute_major = 9, compute_minor = 0;
  bool has_kernel_image = true;  // false: the build has no code for this device
  size_t memory_bytes = size_t{4} << 30;
  size_t shared_limit = 227 << 10;     // bytes a block may ask for
  size_t reported_shared = 227 << 10;  // what the device says of it; tests of small rows let it say less
  std::string launch_to_fail;          // kernel whose launch is refused; "" none
  std::string kernel_to_fail;          // kernel that breaks while it runs
};
Settings& settings();

struct Counters {
  uint64_t launches = 0, synchronizations = 0;
  size_t allocated_bytes = 0, peak_bytes = 0;
};
Counters& counters();

// What the emulator found wrong in kernels since the last call: missing threads at a barrier, writes out of
// bounds.
std::vector<std::string> take_faults();

bool is_device_memory(const void* p);

// For libraries that put work of their own on a stream.
void enqueue(Stream* stream, std::function<void()> run);

}  // namespace emulation
