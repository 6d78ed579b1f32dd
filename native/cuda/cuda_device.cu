#include <cstdlib>

#include "backend/status.h"
#include "cuda/cuda_common.cuh"
#include "cuda/cuda_device.h"

namespace skillgate::cuda {
namespace {

// Asked whether the build has code for the GPU; never launched.
__global__ void probe_kernel() {}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

#if defined(__CUDA_ARCH_LIST__)
#define SKILLGATE_LIST_TEXT(...) #__VA_ARGS__
#define SKILLGATE_EXPANDED_LIST_TEXT(...) SKILLGATE_LIST_TEXT(__VA_ARGS__)
constexpr const char* kArchitectures = SKILLGATE_EXPANDED_LIST_TEXT(__CUDA_ARCH_LIST__);
#else
constexpr const char* kArchitectures = "";
#endif

// "800,900" -> "sm_80, sm_90"
std::string built_for() {
  std::string text, number;
  auto end = [&] {
    if (number.size() > 1) text += (text.empty() ? "sm_" : ", sm_") + number.substr(0, number.size() - 1);
    number.clear();
  };
  for (const char* c = kArchitectures; *c; c++) {
    if (*c == ',') {
      end();
    } else if (*c != ' ') {
      number += *c;
    }
  }
  end();
  return text.empty() ? "no architecture" : text;
}

[[noreturn]] void no_device(const std::string& why) {
  throw Failure("ERR_NO_DEVICE", why);
}

[[noreturn]] void explain_missing(cudaError_t error) {
  if (error == cudaErrorInsufficientDriver) {
    int driver = 0, needed = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&needed);
    if (driver == 0) no_device("device \"cuda\": no NVIDIA driver found on this machine; use device \"cpu\"");
    no_device("device \"cuda\": the NVIDIA driver supports CUDA " + version_text(driver) +
              ", this build needs " + version_text(needed) + "; update the driver, or use device \"cpu\"");
  }
  if (error == cudaErrorNoDevice) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    no_device("device \"cuda\": NVIDIA driver found, but no GPU is visible (CUDA_VISIBLE_DEVICES" +
              (visible ? "=\"" + std::string(visible) + "\"" : std::string(" is not set")) + ")");
  }
  no_device(std::string("device \"cuda\": ") + cudaGetErrorString(error) + " (CUDA error " +
            std::to_string(static_cast<int>(error)) + ")");
}

}  // namespace

DeviceInfo open_device() {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  if (error == cudaSuccess) error = cudaSetDevice(0);
  cudaDeviceProp properties{};
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
  if (error != cudaSuccess) {
    cudaGetLastError();
    explain_missing(error);
  }
  DeviceInfo info;
  info.name = properties.name;
  info.major = properties.major;
  info.minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.memory = properties.totalGlobalMem;
  int shared = 0;
  error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  info.shared_memory = static_cast<size_t>(shared);

  cudaFuncAttributes attributes{};
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, probe_kernel);
  if (error == cudaErrorNoKernelImageForDevice) {
    cudaGetLastError();
    no_device("device \"cuda\": this build has code for " + built_for() + "; this GPU (" + info.name +
              ") is sm_" + std::to_string(info.major) + std::to_string(info.minor));
  }
  if (error != cudaSuccess) {
    cudaGetLastError();
    explain_missing(error);
  }
  return info;
}

}  // namespace skillgate::cuda
