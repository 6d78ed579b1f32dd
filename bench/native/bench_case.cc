#include "bench_case.h"

#include <cstring>

#include "backend/status.h"
#include "cpu/scratch.h"

namespace skillgate::bench {

int64_t Spec::size(const char* name) const {
  const Json* value = fields_.find(name);
  if (!value) throw Failure("ERR_BENCH", std::string("expected a size ") + name + ", found nothing");
  const int64_t n = value->integer();
  if (n < 1) throw Failure("ERR_BENCH", std::string(name) + ": expected at least 1, got " + value->dump());
  return n;
}

int64_t Spec::size(const char* name, int64_t otherwise) const {
  return fields_.find(name) ? size(name) : otherwise;
}

double Spec::number(const char* name, double otherwise) const {
  const Json* value = fields_.find(name);
  return value ? value->number() : otherwise;
}

std::string Spec::text(const char* name, const std::string& otherwise) const {
  const Json* value = fields_.find(name);
  return value ? value->text() : otherwise;
}

uint64_t next_random(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

Buffer::Buffer(int64_t count)
    : data_(static_cast<float*>(allocate_aligned(static_cast<size_t>(count) * sizeof(float) + 64)),
            release_aligned),
      count_(count) {
  std::memset(data_.get(), 0, static_cast<size_t>(count) * sizeof(float));
}

Buffer::Buffer(int64_t count, uint64_t seed, float scale) : Buffer(count) {
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t i = 0; i < count; ++i) {
    const auto high = static_cast<int32_t>(next_random(state) >> 32);
    data_.get()[i] = scale * static_cast<float>(high) * 0x1p-31f;
  }
}

const std::vector<Op>& ops() {
  static const std::vector<Op> all = {
      {"adamw", make_adamw},
      {"attention", make_attention},
      {"embedding", make_embedding},
      {"grad_norm", make_grad_norm},
      {"matmul", make_matmul},
      {"policy_loss", make_policy_loss},
      {"rmsnorm", make_rmsnorm},
      {"rope", make_rope},
      {"sampling", make_sampling},
      {"swiglu", make_swiglu},
      {"token_mask", make_token_mask},
      {"fma_peak", make_fma_peak},
      {"read_bandwidth", make_read_bandwidth},
  };
  return all;
}

}  // namespace skillgate::bench
