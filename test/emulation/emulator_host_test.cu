// What the emulator shows the host: work that runs when the stream gets there, copies that are waited for,
// launches that are refused.
#include <vector>

#include "check.h"
#include "cuda/cuda_common.cuh"
#include "device_fixture.h"

namespace {

constexpr int kThreads = 64;
constexpr size_t kBytes = kThreads * sizeof(float);

__global__ void count_kernel(float* out) {
  out[threadIdx.x] = static_cast<float>(threadIdx.x);
}

// A stream, device memory, and pinned memory of the same size.
struct Device {
  cudaStream_t stream = nullptr;
  float *memory = nullptr, *pinned = nullptr;

  Device() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(reinterpret_cast<void**>(&memory), kBytes);
    void* p = nullptr;
    cudaMallocHost(&p, kBytes);
    pinned = static_cast<float*>(p);
  }
  ~Device() {
    cudaFree(memory);
    cudaFreeHost(pinned);
    cudaStreamDestroy(stream);
  }
  cudaError_t launch(dim3 grid, dim3 block, size_t shared = 0) const {
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, count_kernel, memory);
  }
  void download(float* to) const { cudaMemcpyAsync(to, memory, kBytes, cudaMemcpyDeviceToHost, stream); }
};

uint64_t waits() {
  return emulation::counters().synchronizations;
}

}  // namespace

TEST(a_host_that_does_not_wait_reads_nothing) {
  const Device device;
  device.launch(dim3(1), dim3(kThreads));
  device.pinned[1] = -1.f;
  const uint64_t before = waits();
  device.download(device.pinned);
  EXPECT_EQ(device.pinned[1], -1.f);
  EXPECT_EQ(waits(), before);
  cudaStreamSynchronize(device.stream);
  EXPECT_EQ(device.pinned[1], 1.f);
  EXPECT_EQ(waits(), before + 1);
}

TEST(what_goes_to_pageable_memory_is_waited_for) {
  const Device device;
  device.launch(dim3(1), dim3(kThreads));
  std::vector<float> result(kThreads, -1.f);
  const uint64_t before = waits();
  device.download(result.data());
  EXPECT_EQ(result[1], 1.f);
  EXPECT_EQ(waits(), before + 1);
  cudaStreamSynchronize(device.stream);
  EXPECT_EQ(waits(), before + 1);  // nothing was left to wait for
}

TEST(pinned_memory_is_read_when_the_stream_gets_there) {
  const Device device;
  device.pinned[0] = 1.f;
  cudaMemcpyAsync(device.memory, device.pinned, sizeof(float), cudaMemcpyHostToDevice, device.stream);
  device.pinned[0] = 2.f;  // too early
  float got = 0;
  cudaMemcpyAsync(&got, device.memory, sizeof got, cudaMemcpyDeviceToHost, device.stream);
  cudaStreamSynchronize(device.stream);
  EXPECT_EQ(got, 2.f);
}

TEST(launches_that_a_device_refuses_are_refused) {
  const Device device;
  EXPECT_EQ(device.launch(dim3(1), dim3(kThreads), 48 << 10), cudaSuccess);
  EXPECT_EQ(device.launch(dim3(1), dim3(kThreads), (48 << 10) + 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(device.launch(dim3(1), dim3(1025)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(device.launch(dim3(1, 65536), dim3(32)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(device.launch(dim3(0), dim3(32)), cudaErrorInvalidConfiguration);
  cudaGetLastError();
}
