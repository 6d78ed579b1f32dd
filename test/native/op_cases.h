// One way to test an op: its inputs, its outputs, how to run it, and what it should give in float64. check_op
// then looks at every instruction set of this processor, at several numbers of threads, at guard bytes, at
// rows taken out of a call, and at what two calls add up to.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "cpu/instruction_set.h"

namespace skillgate::test {

using Doubles = std::vector<double>;

struct Shape {
  int64_t T = 1, N = 1, K = 1, D = 1, H = 1, G = 1, E = 2, V = 1;
  bool flag = false;
};

// Numbers that depend on the seed alone.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t bits();
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  float normal();
  std::vector<float> normals(int64_t n, float scale = 1.f);

 private:
  uint64_t state_;
};

struct Input {
  std::vector<float> values;
  std::vector<int32_t> ids;  // or these
  int64_t row = 0;           // elements a row of the call; 0: all rows share it
};

struct Output {
  int64_t count = 0;
  int64_t row = 0;    // elements a row; 0: not by rows
  bool adds = false;  // the op adds to what is there
};

// Memory between guard bytes.
class Guarded {
 public:
  explicit Guarded(int64_t count, float fill = 0.f);
  float* data() { return reinterpret_cast<float*>(bytes_.data() + kGuard); }
  bool intact() const;

 private:
  static constexpr size_t kGuard = 64;
  std::vector<unsigned char> bytes_;
  size_t used_;
};

struct Call {
  Backend& backend;
  Shape shape;
  std::vector<Input>& inputs;
  std::vector<float*> outputs;

  Tensor in(int i, std::initializer_list<int64_t> dims) const {
    return inputs[i].ids.empty() ? Tensor(inputs[i].values.data(), DType::f32, dims)
                                 : Tensor(inputs[i].ids.data(), DType::i32, dims);
  }
  Tensor out(int i, std::initializer_list<int64_t> dims) const {
    return Tensor(outputs[i], DType::f32, dims);
  }
};

struct OpCase {
  std::string name;
  std::vector<Shape> shapes;
  std::function<std::vector<Input>(const Shape&, Random&)> inputs;
  std::function<std::vector<Output>(const Shape&)> outputs;
  std::function<void(const Call&)> run;
  // Each output in float64, what is added in the case of one that adds.
  std::function<std::vector<Doubles>(const Shape&, const std::vector<Input>&)> reference;
  double tolerance = 1e-6;  // relative Frobenius distance to the reference
};

void check_op(const OpCase& c);

std::vector<std::string> instruction_sets();
std::unique_ptr<Backend> open_cpu(const std::string& set, int threads);

// Runs body(backend) for every instruction set with 1, 2 and 4 threads, in a Scope that says which.
void for_each_backend(const std::function<void(Backend&)>& body);

// Frobenius norm of the difference over that of `want`, or over `least` if that is larger.
double relative_distance(const float* got, const Doubles& want, double least = 0);
bool same_bits(const void* a, const void* b, size_t bytes);

// d(sum weights * f(x)) / dx by central differences.
Doubles numeric_gradient(const std::function<Doubles(const Doubles&)>& f, Doubles x,
                         const std::vector<float>& weights);
Doubles widen(const std::vector<float>& x);

}  // namespace skillgate::test
