// One timed thing: an op at a shape, with what it needs in memory. Symbols of shapes: backend/backend.h.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "io/json.h"

namespace skillgate::bench {

struct Case {
  std::string shape;             // for people
  double flop = 0;               // useful ones of one run: those of the result, not of how it is computed
  double bytes = 0;              // that one run must move at least: inputs read once, outputs written once
  std::function<void()> run;     // what is timed
  std::function<Json()> result;  // for checks against others; may be empty
};

// The fields of a case, as sent: "T": 1024, "pass": "forward", ...
class Spec {
 public:
  explicit Spec(const Json& fields) : fields_(fields) {}
  int64_t size(const char* name) const;  // Failure ERR_BENCH where absent or below 1
  int64_t size(const char* name, int64_t otherwise) const;
  double number(const char* name, double otherwise) const;
  std::string text(const char* name, const std::string& otherwise) const;

 private:
  const Json& fields_;
};

// Aligned memory that is released with the last case that holds it.
class Buffer {
 public:
  explicit Buffer(int64_t count);                     // zeros
  Buffer(int64_t count, uint64_t seed, float scale);  // uniform in -scale .. scale
  float* f32() const { return data_.get(); }
  int32_t* i32() const { return reinterpret_cast<int32_t*>(data_.get()); }
  int64_t count() const { return count_; }
  Tensor tensor(std::initializer_list<int64_t> shape) const { return {data_.get(), DType::f32, shape}; }
  Tensor ids(std::initializer_list<int64_t> shape) const { return {data_.get(), DType::i32, shape}; }

 private:
  std::shared_ptr<float> data_;
  int64_t count_;
};

uint64_t next_random(uint64_t& state);

using Make = Case (*)(const Spec& spec, Backend& backend, int threads);
struct Op {
  const char* name;
  Make make;
};
const std::vector<Op>& ops();

// One file a stem, as in native/cpu.
Case make_adamw(const Spec& spec, Backend& backend, int threads);
Case make_attention(const Spec& spec, Backend& backend, int threads);
Case make_embedding(const Spec& spec, Backend& backend, int threads);
Case make_grad_norm(const Spec& spec, Backend& backend, int threads);
Case make_matmul(const Spec& spec, Backend& backend, int threads);
Case make_policy_loss(const Spec& spec, Backend& backend, int threads);
Case make_rmsnorm(const Spec& spec, Backend& backend, int threads);
Case make_rope(const Spec& spec, Backend& backend, int threads);
Case make_sampling(const Spec& spec, Backend& backend, int threads);
Case make_swiglu(const Spec& spec, Backend& backend, int threads);
Case make_token_mask(const Spec& spec, Backend& backend, int threads);
// Of the machine: what the others are measured against.
Case make_fma_peak(const Spec& spec, Backend& backend, int threads);
Case make_read_bandwidth(const Spec& spec, Backend& backend, int threads);

}  // namespace skillgate::bench
