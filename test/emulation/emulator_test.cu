// The emulator catches what it is for: each test plants a fault in a kernel and expects it to show, and the
// same kernel without the fault to be right in every order of threads.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <set>
#include <vector>

#include "check.h"
#include "cuda/cuda_common.cuh"
#include "cuda/tensor_core.cuh"
#include "device_fixture.h"
#include "emulator/sanitizers.h"

#if EMULATION_THREAD_SANITIZER
// A race ends the process, but for those that are planted: they are counted, each time.
static bool race_is_planted = false;
static int planted_races = 0;
extern "C" const char* __tsan_default_options() {
  return "suppress_equal_stacks=0:suppress_equal_addresses=0:exitcode=0";
}
extern "C" __attribute__((no_sanitize("thread"))) void __tsan_on_report(void*) {
  if (!race_is_planted) _exit(66);
  planted_races++;
}
#endif

namespace {

using skillgate::cuda::kAllLanes;
using skillgate::cuda::kWarp;
using skillgate::test::SettingsGuard;

constexpr int kSeeds = 10;
constexpr bool kRacesAreSeen = EMULATION_THREAD_SANITIZER;
constexpr int kThreads = 64;

// A stream and `count` floats in and out: in[i] = i.
struct Bench {
  cudaStream_t stream = nullptr;
  float *in = nullptr, *out = nullptr;
  int count;
  explicit Bench(int n = kThreads) : count(n) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(reinterpret_cast<void**>(&in), bytes());
    cudaMalloc(reinterpret_cast<void**>(&out), bytes());
    std::vector<float> values;
    for (int i = 0; i < n; i++) values.push_back(static_cast<float>(i));
    cudaMemcpyAsync(in, values.data(), bytes(), cudaMemcpyHostToDevice, stream);
  }
  ~Bench() {
    cudaFree(in);
    cudaFree(out);
    cudaStreamDestroy(stream);
  }
  size_t bytes() const { return sizeof(float) * static_cast<size_t>(count); }

  template <class... Parameters, class... Arguments>
  std::vector<float> run(uint64_t seed, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                         Arguments... arguments) {
    emulation::settings().seed = seed;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    cudaLaunchKernelEx(&config, kernel, arguments...);
    std::vector<float> result(static_cast<size_t>(count), -1.f);
    cudaMemcpyAsync(result.data(), out, bytes(), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return result;
  }
};

bool all_numbers(const std::vector<float>& x) {
  for (float v : x)
    if (std::isnan(v)) return false;
  return true;
}

template <bool kBarrier>
__global__ void reverse_kernel(float* out, const float* in) {
  SKILLGATE_SHARED(float, tile, [kThreads]);
  tile[threadIdx.x] = in[threadIdx.x];
  if (kBarrier) __syncthreads();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

template <bool kBarrier>
__global__ void neighbour_in_warp_kernel(float* out, const float* in) {
  SKILLGATE_SHARED(float, tile, [kThreads]);
  float sum = 0.f;
  for (int round = 0; round < 3; round++) {
    tile[threadIdx.x] = in[threadIdx.x] + static_cast<float>(round);
    __syncwarp();
    sum += tile[threadIdx.x ^ 1];
    if (kBarrier) __syncwarp();
  }
  out[threadIdx.x] = sum;
}

__global__ void unwritten_shared_kernel(float* out) {
  SKILLGATE_SHARED(float, tile, [kThreads]);
  if (threadIdx.x != 5) tile[threadIdx.x] = 1.f;
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = tile[threadIdx.x];
}

__global__ void all_but_one_kernel(float* out) {
  if (threadIdx.x != 7) out[threadIdx.x] = 1.f;
}

__global__ void write_at_kernel(float* out, int64_t at) {
  if (threadIdx.x == 0) out[at] = 1.f;
}

__global__ void write_shared_at_kernel(float* out, int64_t at) {
  SKILLGATE_SHARED(float, tile, [kThreads]);
  tile[threadIdx.x] = 0.f;
  if (threadIdx.x == 0) tile[at] = 1.f;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void some_leave_kernel(float* out) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  out[threadIdx.x] = 1.f;
}

__global__ void lanes_part_kernel(float* out) {
  float x = out[0];
  if (threadIdx.x % kWarp < 16) {
    x += __shfl_xor_sync(kAllLanes, x, 1);
  } else {
    x += static_cast<float>(__ballot_sync(kAllLanes, x > 0.f));
  }
  out[threadIdx.x] = x;
}

template <bool kWait>
__global__ void async_copy_kernel(float* out, const float* in) {
  SKILLGATE_SHARED(float4, tile, [kThreads / 4]);
  if (threadIdx.x < kThreads / 4)
    skillgate::cuda::async_copy_16(&tile[threadIdx.x], in + 4 * threadIdx.x, 16);
  skillgate::cuda::async_copy_commit();
  if (kWait) skillgate::cuda::async_copy_wait<0>();
  __syncthreads();
  out[threadIdx.x] = reinterpret_cast<const float*>(tile)[threadIdx.x];
}

__global__ void last_block_wins_kernel(float* out) {
  if (threadIdx.x == 0) *out = static_cast<float>(blockIdx.x);
}

// What one order of adding gives may differ from another's: the reason why the sources have no such atomics.
__global__ void add_in_any_order_kernel(float* out, const float* in) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = 0.f;
  *out += 1e8f * (threadIdx.x % 2 ? 1.f : -1.f) + in[threadIdx.x] * 0.37f;
}

__global__ void blocks_meet_kernel(float* out, const float* in) {
  if (blockIdx.x == 0 && threadIdx.x == 0) out[1] = in[1];
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == kThreads - 1) out[0] = out[1];
}

// Runs body in a process of its own; true where it was killed or ended with an error.
template <class Body>
bool dies(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    close(2);  // the sanitizer's report
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

// True where body says so; where races are seen, where one is reported.
template <class Body>
bool shows(Body body) {
#if EMULATION_THREAD_SANITIZER
  const int terminal = dup(2), nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, 2);  // the reports
  race_is_planted = true;
  planted_races = 0;
  body();
  race_is_planted = false;
  dup2(terminal, 2);
  close(terminal);
  close(nowhere);
  return planted_races > 0;
#else
  return body();
#endif
}

// True where run(bench, seed) gives out[0] other values in other orders.
template <class Run>
bool differs_among_orders(Run run) {
  SettingsGuard guard;
  return shows([&] {
    std::set<float> results;
    for (uint64_t seed = 1; seed <= kSeeds; seed++) {
      Bench bench;
      results.insert(run(bench, seed)[0]);
    }
    return results.size() > 1;
  });
}

// True where the emulator, or the sanitizer it runs under, reports the write.
template <class Kernel>
bool caught_out_of_bounds(Kernel kernel, int64_t at) {
  auto write = [&] {
    Bench bench;
    bench.run(1, kernel, 1, kThreads, bench.out, at);
    return !emulation::take_faults().empty();
  };
#if EMULATION_ADDRESS_SANITIZER
  return dies([&] { write(); });
#else
  return write();
#endif
}

}  // namespace

TEST(right_kernels_are_right_in_every_order) {
  SettingsGuard guard;
  for (uint64_t seed = 1; seed <= kSeeds; seed++) {
    Bench bench;
    const std::vector<float> got = bench.run(seed, reverse_kernel<true>, 1, kThreads, bench.out, bench.in);
    for (int i = 0; i < kThreads; i++)
      EXPECT_EQ(got[static_cast<size_t>(i)], static_cast<float>(kThreads - 1 - i));
    const std::vector<float> near =
        bench.run(seed, neighbour_in_warp_kernel<true>, 1, kThreads, bench.out, bench.in);
    for (int i = 0; i < kThreads; i++)
      EXPECT_EQ(near[static_cast<size_t>(i)], static_cast<float>(3 * (i ^ 1) + 3));
    const std::vector<float> copied =
        bench.run(seed, async_copy_kernel<true>, 1, kThreads, bench.out, bench.in);
    for (int i = 0; i < kThreads; i++) EXPECT_EQ(copied[static_cast<size_t>(i)], static_cast<float>(i));
  }
  skillgate::test::expect_no_faults();
}

TEST(missing_block_barrier_shows) {
  SettingsGuard guard;
  for (uint64_t seed = 1; seed <= kSeeds; seed++)
    EXPECT(shows([&] {
      Bench bench;
      return !all_numbers(bench.run(seed, reverse_kernel<false>, 1, kThreads, bench.out, bench.in));
    }));
}

TEST(missing_warp_barrier_shows) {
  SettingsGuard guard;
  int wrong = 0;
  for (uint64_t seed = 1; seed <= kSeeds; seed++)
    wrong += shows([&] {
      Bench bench;
      const std::vector<float> got =
          bench.run(seed, neighbour_in_warp_kernel<false>, 1, kThreads, bench.out, bench.in);
      for (int i = 0; i < kThreads; i++)
        if (got[static_cast<size_t>(i)] != static_cast<float>(3 * (i ^ 1) + 3)) return true;
      return false;
    });
  EXPECT(kRacesAreSeen ? wrong == kSeeds : wrong > 0);
}

TEST(missing_order_among_blocks_shows) {
  EXPECT(differs_among_orders(
      [](Bench& bench, uint64_t seed) { return bench.run(seed, last_block_wins_kernel, 8, 32, bench.out); }));
}

TEST(sums_in_any_order_show) {
  EXPECT(differs_among_orders([](Bench& bench, uint64_t seed) {
    return bench.run(seed, add_in_any_order_kernel, 1, kThreads, bench.out, bench.in);
  }));
}

// What a block reads before its last barrier and another writes: no value differs, and only a watcher of accesses sees
// it.
TEST(accesses_of_two_blocks_show) {
  if (!kRacesAreSeen) return;
  EXPECT(shows([] {
    Bench bench;
    bench.run(1, blocks_meet_kernel, 2, kThreads, bench.out, bench.in);
    return false;
  }));
}

TEST(missing_wait_for_a_copy_shows) {
  Bench bench;
  EXPECT(!all_numbers(bench.run(1, async_copy_kernel<false>, 1, kThreads, bench.out, bench.in)));
}

TEST(unwritten_memory_reads_as_nan) {
  Bench bench;
  EXPECT(!all_numbers(bench.run(1, unwritten_shared_kernel, 1, kThreads, bench.out)));
  Bench another;
  const std::vector<float> got = another.run(1, all_but_one_kernel, 1, kThreads, another.out);
  for (int i = 0; i < kThreads; i++) EXPECT_EQ(std::isnan(got[static_cast<size_t>(i)]), i == 7);
}

TEST(shared_memory_is_unwritten_again_in_the_next_block) {
  Bench bench(3 * kThreads);
  bench.run(1, reverse_kernel<true>, 1, kThreads, bench.out, bench.in);
  const std::vector<float> got = bench.run(1, unwritten_shared_kernel, 3, kThreads, bench.out);
  for (int i = 0; i < 3 * kThreads; i++)
    EXPECT_EQ(std::isnan(got[static_cast<size_t>(i)]), i % kThreads == 5);
}

TEST(writes_out_of_bounds_are_caught) {
  EXPECT(caught_out_of_bounds(write_at_kernel, kThreads));
  EXPECT(caught_out_of_bounds(write_at_kernel, -1));
  EXPECT(caught_out_of_bounds(write_shared_at_kernel, kThreads));
  EXPECT(caught_out_of_bounds(write_shared_at_kernel, -1));
  EXPECT(!caught_out_of_bounds(write_at_kernel, kThreads - 1));
}

TEST(barriers_that_some_threads_miss_are_caught) {
  Bench bench;
  bench.run(1, some_leave_kernel, 1, kThreads, bench.out);
  const std::vector<std::string> faults = emulation::take_faults();
  EXPECT_EQ(faults.size(), size_t{1});
  if (!faults.empty()) EXPECT(faults[0].find("24 of 64 threads ended") != std::string::npos);
}

TEST(lanes_that_meet_in_different_operations_are_caught) {
  Bench bench;
  bench.run(1, lanes_part_kernel, 1, kThreads, bench.out);
  EXPECT_EQ(emulation::take_faults().size(), size_t{1});
}
