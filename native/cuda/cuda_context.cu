#include <algorithm>

#include "backend/status.h"
#include "cuda/cuda_context.h"

namespace skillgate::cuda {
namespace {

constexpr size_t kPieceAlign = 256;
constexpr size_t kSmallestScratch = 1 << 20;

std::string mebibytes(size_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

}  // namespace

Context::Context() : device_(open_device()) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
}

Context::~Context() {
  if (stream_) cudaStreamSynchronize(stream_);  // then nothing reads or writes the staged copies
  for (const ScratchBlock& b : scratch_) cudaFree(b.data);
  if (stream_) cudaStreamDestroy(stream_);
}

void Context::before_launch(const char* name) {
  require_usable();
  const auto known =
      std::find_if(launched_.begin(), launched_.end(), [&](const Launched& l) { return l.name == name; });
  launches_++;
  if (known == launched_.end()) {
    launched_.push_back({name, launches_});
  } else {
    known->latest = launches_;
  }
#if defined(SKILLGATE_CUDA_EMULATION)
  emulation_name_next_launch(name);
#endif
}

void Context::require_usable() const {
  if (!lost_.empty()) throw Failure("ERR_DEVICE_LOST", "the GPU cannot be used any more after: " + lost_);
}

void Context::check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(error, what);
}

// Errors of kernels come back from a later call; what is known then is which kernels were launched since the
// last wait.
void Context::fail(cudaError_t error, const char* what) {
  cudaGetLastError();
  std::string text = std::string(what) + ": " + cudaGetErrorString(error) + " (CUDA error " +
                     std::to_string(static_cast<int>(error)) + ")";
  if (launches_ > waited_) {
    std::sort(launched_.begin(), launched_.end(),
              [](const Launched& a, const Launched& b) { return a.latest < b.latest; });
    std::string names;
    for (const Launched& l : launched_)
      if (l.latest > waited_) names += (names.empty() ? "" : ", ") + std::string(l.name);
    text += "; kernels launched since the last wait, latest last: " + names +
            " (CUDA_LAUNCH_BLOCKING=1 makes the first error name its own kernel)";
  }
  lost_ = text;
  throw Failure("ERR_CUDA", text);
}

void* Context::allocate(size_t bytes) {
  require_usable();
  if (bytes == 0) return nullptr;
  void* p = nullptr;
  const cudaError_t error = cudaMalloc(&p, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    throw Failure("ERR_OUT_OF_MEMORY", "needed " + mebibytes(bytes) + " on the GPU, " + mebibytes(free) +
                                           " of " + mebibytes(total) + " are free");
  }
  check(error, "cudaMalloc");
  return p;
}

size_t Context::free_bytes() {
  require_usable();
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

void Context::release(void* p) noexcept {
  if (p) cudaFree(p);
}

void Context::upload(void* device, const void* host, size_t bytes) {
  require_usable();
  if (bytes == 0) return;
  if (bytes <= Staging::kLargest) {
    if (staging_.full(bytes)) synchronize();
    const cudaError_t error = staging_.upload(device, host, bytes, stream_);
    if (error != cudaErrorMemoryAllocation) return check(error, "upload");
    cudaGetLastError();  // no more pinned memory: without it
  }
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_), "upload");
  synchronize();  // the caller may change `host` at once
}

void Context::reserve(PinnedMemory& memory, size_t bytes) {
  require_usable();
  if (bytes <= memory.bytes()) return;
  synchronize();  // the device may still write there
  const cudaError_t error = memory.reserve(bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Failure("ERR_OUT_OF_MEMORY", "needed " + mebibytes(bytes) + " of pinned host memory");
  }
  check(error, "cudaMallocHost");
}

void Context::start_download(void* host, const void* device, size_t bytes) {
  require_usable();
  if (bytes > 0) check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_), "download");
}

void Context::download(void* host, const void* device, size_t bytes) {
  start_download(host, device, bytes);
  synchronize();
}

void Context::copy(void* to, const void* from, size_t bytes) {
  require_usable();
  if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "copy");
}

void Context::zero(void* p, size_t bytes) {
  require_usable();
  if (bytes > 0) check(cudaMemsetAsync(p, 0, bytes, stream_), "zero");
}

void Context::synchronize() {
  require_usable();
  check(cudaStreamSynchronize(stream_), "synchronize");
  waited_ = launches_;
  staging_.reuse();
}

size_t Context::scratch_bytes() const {
  size_t total = 0;
  for (const ScratchBlock& b : scratch_) total += b.bytes;
  return total;
}

Context::Scratch::Scratch(Context& context)
    : context_(context), block_(context.scratch_block_), used_(context.scratch_used_) {
  if (context_.scratch_frames_ == 0) context_.join_scratch();
  context_.scratch_frames_++;
}

Context::Scratch::~Scratch() {
  context_.scratch_frames_--;
  context_.scratch_block_ = block_;
  context_.scratch_used_ = used_;
}

// Several blocks, left by an op that needed more than there was, become one.
void Context::join_scratch() {
  if (scratch_.size() < 2) return;
  size_t total = 0;
  for (const ScratchBlock& b : scratch_) {
    total += b.bytes;
    release(b.data);  // waits for the ops that use it
  }
  scratch_.clear();
  scratch_.push_back({static_cast<char*>(allocate(total)), total});
}

void* Context::take_scratch(size_t bytes) {
  bytes = round_up(std::max<size_t>(bytes, 1), kPieceAlign);
  while (scratch_block_ < scratch_.size() && scratch_used_ + bytes > scratch_[scratch_block_].bytes) {
    scratch_block_++;
    scratch_used_ = 0;
  }
  if (scratch_block_ == scratch_.size()) {
    const size_t size = std::max(bytes, kSmallestScratch);
    scratch_.push_back({static_cast<char*>(allocate(size)), size});
  }
  char* p = scratch_[scratch_block_].data + scratch_used_;
  scratch_used_ += bytes;
#if defined(SKILLGATE_CUDA_EMULATION)
  check(cudaMemsetAsync(p, 0xFF, bytes, stream_), "poison");  // as unwritten as new memory
#endif
  return p;
}

}  // namespace skillgate::cuda
