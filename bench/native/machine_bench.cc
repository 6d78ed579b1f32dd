// What this machine can do: fused multiply-adds from registers, and bytes read from memory, on all threads.
#include <functional>
#include <string>
#include <thread>

#include "bench_case.h"
#include "cpu/instruction_set.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace skillgate::bench {
namespace {

constexpr int64_t kSteps = 4'000'000;  // of a run; a step is kChains multiply-adds of one vector
constexpr int kChains = 12;            // enough to hide the latency on processors with two units
constexpr int64_t kReadBytes = int64_t{512} << 20;

void on_threads(int threads, const std::function<void(int)>& body) {
  std::vector<std::thread> started;
  for (int i = 1; i < threads; ++i) started.emplace_back(body, i);
  body(0);
  for (std::thread& thread : started) thread.join();
}

volatile float sink;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void multiply_add_avx512() {
  __m512 sum[kChains];
  const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-3f);
  for (__m512& s : sum) s = y;
  for (int64_t i = 0; i < kSteps; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kChains; ++j) sum[j] = _mm512_fmadd_ps(sum[j], x, y);
  }
  for (int j = 1; j < kChains; ++j) sum[0] = _mm512_add_ps(sum[0], sum[j]);
  float lanes[16];
  _mm512_storeu_ps(lanes, sum[0]);
  sink = lanes[0];
}

__attribute__((target("avx2,fma"))) void multiply_add_avx2() {
  __m256 sum[kChains];
  const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-3f);
  for (__m256& s : sum) s = y;
  for (int64_t i = 0; i < kSteps; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kChains; ++j) sum[j] = _mm256_fmadd_ps(sum[j], x, y);
  }
  for (int j = 1; j < kChains; ++j) sum[0] = _mm256_add_ps(sum[0], sum[j]);
  float lanes[8];
  _mm256_storeu_ps(lanes, sum[0]);
  sink = lanes[0];
}

__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
uint64_t
sum_words(const uint64_t* from, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += from[i];
  return sum;
}

typedef float Vec4 __attribute__((vector_size(16)));

void multiply_add_portable() {
  Vec4 sum[kChains];
  const Vec4 x = {0.999f, 0.999f, 0.999f, 0.999f}, y = {1e-3f, 1e-3f, 1e-3f, 1e-3f};
  for (Vec4& s : sum) s = y;
  for (int64_t i = 0; i < kSteps; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kChains; ++j) sum[j] = sum[j] * x + y;
  }
  for (int j = 1; j < kChains; ++j) sum[0] += sum[j];
  sink = sum[0][0] + sum[0][1] + sum[0][2] + sum[0][3];
}

}  // namespace

Case make_fma_peak(const Spec&, Backend& backend, int threads) {
  const std::string description = backend.description();
  int width = 4;
  void (*body)() = multiply_add_portable;
#if defined(__x86_64__)
  if (description.rfind("avx512", 0) == 0) {
    width = 16;
    body = multiply_add_avx512;
  } else if (description.rfind("avx2", 0) == 0) {
    width = 8;
    body = multiply_add_avx2;
  }
#endif
  Case c;
  c.shape = std::to_string(width) + " floats x " + std::to_string(threads) + " threads";
  c.flop = 2.0 * kSteps * kChains * width * threads;
  c.run = [=] { on_threads(threads, [=](int) { body(); }); };
  return c;
}

Case make_read_bandwidth(const Spec&, Backend&, int threads) {
  const Buffer memory(kReadBytes / 4, 1, 1.f);
  Case c;
  c.shape = std::to_string(kReadBytes >> 20) + " MiB";
  c.bytes = kReadBytes;
  c.run = [=] {
    on_threads(threads, [=](int i) {
      const int64_t words = kReadBytes / 8, begin = words * i / threads, end = words * (i + 1) / threads;
      const auto* from = reinterpret_cast<const uint64_t*>(memory.f32());
      sink = static_cast<float>(sum_words(from + begin, end - begin));
    });
  };
  return c;
}

}  // namespace skillgate::bench
