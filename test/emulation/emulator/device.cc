#include "emulator/device.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

#include "cuda_runtime.h"
#include "emulator/guarded.h"

namespace emulation {

namespace {

// One device for the process, used by one host thread at a time.
struct Device {
  std::recursive_mutex mutex;
  Settings settings;
  Counters counters;
  std::map<void*, Guarded> memory;
  std::map<void*, size_t> pinned;
  std::unordered_map<const void*, size_t> shared_limits;
  std::vector<std::string> faults;
  cudaError_t broken = cudaSuccess;  // a fault stays: every later call returns it
  cudaError_t last = cudaSuccess;
  uint64_t kernels = 0;
  std::string next_launch = "kernel";
};

Device& device() {
  static Device* d = new Device;  // outlives everything that might still use it at exit
  return *d;
}

cudaError_t result(cudaError_t e) {
  if (e != cudaSuccess) device().last = e;
  return e;
}

bool is_pinned(const void* p) {
  auto& all = device().pinned;
  auto it = all.upper_bound(const_cast<void*>(p));
  if (it == all.begin()) return false;
  --it;
  return static_cast<const char*>(p) < static_cast<char*>(it->first) + it->second;
}

// The host waits, if there is anything to wait for.
void run_until(Stream* stream, const Event* event) {
  Device& d = device();
  if (!stream->work.empty() && !(event && event->done)) d.counters.synchronizations++;
  while (!stream->work.empty() && !(event && event->done)) {
    StreamWork work = std::move(stream->work.front());
    stream->work.pop_front();
    if (d.broken == cudaSuccess && work.run) work.run();
    if (work.event) work.event->done = true;
  }
}

void check_memory(const std::string& kernel) {
  Device& d = device();
  for (const auto& [p, m] : d.memory)
    if (!m.intact()) {
      d.faults.push_back(kernel + ": device memory written out of bounds");
      d.broken = cudaErrorIllegalAddress;
    }
}

void run(const Launch& launch) {
  Device& d = device();
  if (!d.settings.kernel_to_fail.empty() && launch.name == d.settings.kernel_to_fail) {
    d.broken = cudaErrorIllegalAddress;
    return;
  }
  const std::string fault = run_kernel(launch, d.settings.seed * 0x100000001B3ull + d.kernels++);
  if (!fault.empty()) {
    d.faults.push_back(fault);
    d.broken = cudaErrorLaunchFailure;
  }
  check_memory(launch.name);
}

std::vector<Stream*>& streams() {
  static auto* all = new std::vector<Stream*>;
  return *all;
}

}  // namespace

Settings& settings() {
  return device().settings;
}
Counters& counters() {
  return device().counters;
}

std::vector<std::string> take_faults() {
  device().broken = device().last = cudaSuccess;
  return std::exchange(device().faults, {});
}

bool is_device_memory(const void* p) {
  const std::lock_guard lock(device().mutex);
  auto it = device().memory.upper_bound(const_cast<void*>(p));
  if (it == device().memory.begin()) return false;
  --it;
  return static_cast<const char*>(p) < static_cast<char*>(it->first) + it->second.bytes();
}

void enqueue(Stream* stream, std::function<void()> run) {
  const std::lock_guard lock(device().mutex);
  stream->work.push_back({std::move(run), nullptr});
}

}  // namespace emulation

using emulation::counters;
using emulation::device;
using emulation::settings;
#define LOCKED const std::lock_guard lock(device().mutex)
// A broken device answers every call with what broke it.
#define LOCKED_AND_WHOLE \
  LOCKED;                \
  if (device().broken != cudaSuccess) return device().broken

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorNoKernelImageForDevice:
      return "no kernel image is available for execution on the device";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    default:
      return "unspecified launch failure";
  }
}

cudaError_t cudaGetLastError() {
  LOCKED;
  return device().broken != cudaSuccess ? device().broken : std::exchange(device().last, cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int* count) {
  LOCKED;
  *count = 0;
  if (settings().driver_version < CUDART_VERSION / 1000 * 1000) return cudaErrorInsufficientDriver;
  if (settings().devices == 0) return cudaErrorNoDevice;
  *count = settings().devices;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = settings().driver_version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int index) {
  LOCKED_AND_WHOLE;
  return index >= 0 && index < settings().devices ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  LOCKED_AND_WHOLE;
  *properties = {"Emulated GPU", settings().compute_major, settings().compute_minor, settings().memory_bytes,
                 2};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  LOCKED_AND_WHOLE;
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = 2;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = settings().compute_major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = settings().compute_minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(settings().reported_shared);
      break;
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  LOCKED_AND_WHOLE;
  *total = settings().memory_bytes;
  *free = *total - std::min(*total, counters().allocated_bytes);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** p, size_t bytes) {
  LOCKED_AND_WHOLE;
  *p = nullptr;
  if (bytes == 0) return cudaSuccess;
  auto& c = counters();
  if (bytes > settings().memory_bytes || c.allocated_bytes + bytes > settings().memory_bytes)
    return emulation::result(cudaErrorMemoryAllocation);
  emulation::Guarded memory(bytes);
  *p = memory.data();
  device().memory.emplace(*p, std::move(memory));
  c.allocated_bytes += bytes;
  c.peak_bytes = std::max(c.peak_bytes, c.allocated_bytes);
  return cudaSuccess;
}

// Waits for the device, as the real one does.
cudaError_t cudaFree(void* p) {
  LOCKED;
  for (emulation::Stream* s : emulation::streams()) emulation::run_until(s, nullptr);
  if (!p) return device().broken;
  const auto it = device().memory.find(p);
  if (it == device().memory.end()) return emulation::result(cudaErrorInvalidValue);
  counters().allocated_bytes -= it->second.bytes();
  device().memory.erase(it);
  return device().broken;
}

cudaError_t cudaMallocHost(void** p, size_t bytes) {
  LOCKED_AND_WHOLE;
  *p = std::malloc(bytes);
  if (!*p) return emulation::result(cudaErrorMemoryAllocation);
  device().pinned[*p] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  LOCKED;
  for (emulation::Stream* s : emulation::streams()) emulation::run_until(s, nullptr);
  device().pinned.erase(p);
  std::free(p);
  return device().broken;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  LOCKED_AND_WHOLE;
  if (kind == cudaMemcpyHostToDevice && !emulation::is_pinned(from)) {
    // Pageable memory is copied aside before the call returns.
    std::vector<char> aside(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    stream->work.push_back({[to, aside = std::move(aside)] { std::memcpy(to, aside.data(), aside.size()); }});
  } else {
    stream->work.push_back({[=] { std::memmove(to, from, bytes); }});
  }
  if (kind == cudaMemcpyDeviceToHost && !emulation::is_pinned(to)) {
    // So is what goes to pageable memory: the host waits.
    emulation::run_until(stream, nullptr);
    return device().broken;
  }
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* p, int value, size_t bytes, cudaStream_t stream) {
  LOCKED_AND_WHOLE;
  stream->work.push_back({[=] { std::memset(p, value, bytes); }});
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  LOCKED_AND_WHOLE;
  *stream = new emulation::Stream;
  emulation::streams().push_back(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  LOCKED;
  emulation::run_until(stream, nullptr);
  std::erase(emulation::streams(), stream);
  delete stream;
  return device().broken;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  LOCKED;
  emulation::run_until(stream, nullptr);
  return device().broken;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new emulation::Event;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  LOCKED;
  if (event->stream && !event->done) emulation::run_until(event->stream, event);
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  LOCKED_AND_WHOLE;
  event->stream = stream;
  event->done = false;
  stream->work.push_back({nullptr, event});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  LOCKED;
  if (event->stream && !event->done) emulation::run_until(event->stream, event);
  return device().broken;
}

cudaError_t emulation_function_attributes(const void*) {
  LOCKED_AND_WHOLE;
  return settings().has_kernel_image ? cudaSuccess : emulation::result(cudaErrorNoKernelImageForDevice);
}

cudaError_t emulation_set_shared_limit(const void* kernel, int bytes) {
  LOCKED_AND_WHOLE;
  if (bytes < 0 || static_cast<size_t>(bytes) > settings().shared_limit)
    return emulation::result(cudaErrorInvalidValue);
  device().shared_limits[kernel] = static_cast<size_t>(bytes);
  return cudaSuccess;
}

void emulation_name_next_launch(const char* name) {
  LOCKED;
  device().next_launch = name;
}

cudaError_t emulation_launch(const cudaLaunchConfig_t& c, const void* kernel, std::function<void()> body) {
  LOCKED_AND_WHOLE;
  emulation::Launch launch;
  launch.name = std::exchange(device().next_launch, "kernel");
  launch.grid = {c.gridDim.x, c.gridDim.y, c.gridDim.z};
  launch.block = {c.blockDim.x, c.blockDim.y, c.blockDim.z};
  launch.shared_bytes = c.dynamicSmemBytes;
  for (unsigned i = 0; i < c.numAttrs; i++)
    if (c.attrs[i].id == cudaLaunchAttributeClusterDimension) launch.cluster = c.attrs[i].val.clusterDim.x;
  const uint64_t threads = uint64_t{c.blockDim.x} * c.blockDim.y * c.blockDim.z;
  const auto limit = device().shared_limits.find(kernel);
  const size_t shared = limit == device().shared_limits.end() ? 48 << 10 : limit->second;
  const bool grid_fits = c.gridDim.x > 0 && c.gridDim.x <= 0x7FFFFFFF && c.gridDim.y > 0 &&
                         c.gridDim.y <= 65535 && c.gridDim.z > 0 && c.gridDim.z <= 65535;
  if (!grid_fits || threads == 0 || threads > 1024 || launch.shared_bytes > shared || launch.cluster == 0 ||
      launch.cluster > 8 || c.gridDim.x % launch.cluster != 0 || launch.name == settings().launch_to_fail)
    return emulation::result(cudaErrorInvalidConfiguration);
  launch.body = std::move(body);
  counters().launches++;
  c.stream->work.push_back({[launch = std::move(launch)] { emulation::run(launch); }});
  return cudaSuccess;
}
