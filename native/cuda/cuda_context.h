// What every CUDA op gets: the device, one stream, scratch memory, and launches that report errors by the
// kernel's name.
//
// A CUDA error other than a lack of memory ends the context: it is thrown once as Failure ERR_CUDA, with what
// ran; from then on every call is Failure ERR_DEVICE_LOST. A lack of memory is Failure ERR_OUT_OF_MEMORY and
// leaves everything usable.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/cuda_common.cuh"
#include "cuda/cuda_device.h"
#include "cuda/staging.h"

namespace skillgate::cuda {

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DeviceInfo& device() const { return device_; }
  cudaStream_t stream() const { return stream_; }

  // Rounds of one kernel's blocks that the device runs at a time are up to the caller; grid.y and grid.z are
  // at most 65535.
  template <class... Parameters, class... Arguments>
  void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, unsigned threads,
              size_t shared_bytes, Arguments&&... arguments) {
    launch_cluster(name, kernel, 1, grid, threads, shared_bytes, std::forward<Arguments>(arguments)...);
  }
  // The same with clusters of `cluster` blocks along x.
  template <class... Parameters, class... Arguments>
  void launch_cluster(const char* name, void (*kernel)(Parameters...), unsigned cluster, dim3 grid,
                      unsigned threads, size_t shared_bytes, Arguments&&... arguments) {
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
    before_launch(name);
    if (shared_bytes > kDefaultSharedBytes) {
      size_t& allowed = shared_limits_[reinterpret_cast<const void*>(kernel)];
      if (allowed < shared_bytes) {
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared_bytes)),
              name);
        allowed = shared_bytes;
      }
    }
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream_;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = cluster > 1 ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), name);
  }

  // Throws for any error; `what` is the call or the kernel.
  void check(cudaError_t error, const char* what);
  void require_usable() const;

  void* allocate(size_t bytes);
  size_t free_bytes();
  size_t scratch_bytes() const;  // held for scratch memory
  void release(void* p) noexcept;
  void upload(void* device, const void* host, size_t bytes);
  void download(void* host, const void* device, size_t bytes);  // waits
  // Into pinned memory: there after the next wait. The driver itself waits for what goes elsewhere.
  void start_download(void* host, const void* device, size_t bytes);
  void reserve(PinnedMemory& memory, size_t bytes);
  void copy(void* to, const void* from, size_t bytes);
  void zero(void* p, size_t bytes);
  void synchronize();

  // Scratch memory of an op; taken through a Scratch frame. Valid until the frame ends: the next op on the
  // stream runs after this one, so what is given back is free for it.
  class Scratch {
   public:
    explicit Scratch(Context& context);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    template <class T>
    T* take(int64_t count) {
      return static_cast<T*>(context_.take_scratch(static_cast<size_t>(count) * sizeof(T)));
    }
    // The same, filled from host memory.
    template <class T>
    T* upload(const T* host, int64_t count) {
      T* p = take<T>(count);
      context_.upload(p, host, static_cast<size_t>(count) * sizeof(T));
      return p;
    }

   private:
    Context& context_;
    size_t block_, used_;
  };

 private:
  static constexpr size_t kDefaultSharedBytes = 48 << 10;
  struct ScratchBlock {
    char* data;
    size_t bytes;
  };

  void before_launch(const char* name);
  void* take_scratch(size_t bytes);
  void join_scratch();
  [[noreturn]] void fail(cudaError_t error, const char* what);

  DeviceInfo device_;
  cudaStream_t stream_ = nullptr;
  Staging staging_;
  std::vector<ScratchBlock> scratch_;
  size_t scratch_block_ = 0, scratch_used_ = 0;  // where the next piece comes from
  int scratch_frames_ = 0;
  std::unordered_map<const void*, size_t> shared_limits_;
  struct Launched {
    const char* name;
    uint64_t latest;  // which launch of all
  };
  std::vector<Launched> launched_;  // every kernel so far
  uint64_t launches_ = 0, waited_ = 0;
  std::string lost_;  // why the context ended
};

}  // namespace skillgate::cuda
