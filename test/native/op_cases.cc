#include "op_cases.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "check.h"

namespace skillgate::test {
namespace {

constexpr int kThreadCounts[] = {1, 2, 4};

std::string describe(const Shape& s) {
  std::string text;
  const std::pair<const char*, int64_t> fields[] = {{"T", s.T}, {"N", s.N}, {"K", s.K}, {"D", s.D},
                                                    {"H", s.H}, {"G", s.G}, {"E", s.E}, {"V", s.V}};
  for (const auto& [name, value] : fields) text += std::string(name) + "=" + std::to_string(value) + " ";
  return text + (s.flag ? "flag" : "");
}

using Results = std::vector<std::vector<float>>;

std::vector<float> first_content(const Output& out, size_t index) {
  if (!out.adds)
    return std::vector<float>(static_cast<size_t>(out.count), std::numeric_limits<float>::quiet_NaN());
  return Random(77 + index).normals(out.count);
}

// Runs the op `times` times on the same outputs.
Results run_op(const OpCase& c, Backend& backend, const Shape& shape, std::vector<Input> inputs,
               int times = 1) {
  const std::vector<Output> specs = c.outputs(shape);
  std::vector<Guarded> memory;
  Call call{backend, shape, inputs, {}};
  for (const Output& out : specs) memory.emplace_back(out.count);
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::vector<float> content = first_content(specs[i], i);
    std::copy(content.begin(), content.end(), memory[i].data());
    call.outputs.push_back(memory[i].data());
  }
  for (int n = 0; n < times; ++n) c.run(call);
  Results results;
  for (size_t i = 0; i < specs.size(); ++i) {
    EXPECT(memory[i].intact());
    results.emplace_back(memory[i].data(), memory[i].data() + specs[i].count);
  }
  return results;
}

void compare(const OpCase& c, const std::vector<Output>& specs, const Results& got,
             const std::vector<Doubles>& want, int times) {
  for (size_t i = 0; i < specs.size(); ++i) {
    check::Scope scope("output " + std::to_string(i));
    Doubles expected = want[i];
    const std::vector<float> before = first_content(specs[i], i);
    for (size_t j = 0; j < expected.size() && specs[i].adds; ++j)
      expected[j] = before[j] + times * expected[j];
    EXPECT_EQ(got[i].size(), expected.size());
    EXPECT_NEAR(relative_distance(got[i].data(), expected), 0, c.tolerance);
  }
}

// Some rows of a call, run alone, give the bits they had in the whole call.
void check_rows(const OpCase& c, Backend& backend, const Shape& shape, const std::vector<Input>& inputs,
                const Results& whole) {
  const int64_t T = shape.T;
  const std::vector<Output> specs = c.outputs(shape);
  for (const Output& out : specs) {
    if (out.row == 0) return;
  }
  const std::pair<int64_t, int64_t> ranges[] = {
      {0, 1}, {T / 2, T / 2 + 1}, {T - 1, T}, {T / 3, std::min(T, T / 3 + 3)}, {T / 4, T}};
  for (const auto& [begin, end] : ranges) {
    check::Scope scope("rows " + std::to_string(begin) + " to " + std::to_string(end));
    Shape part = shape;
    part.T = end - begin;
    std::vector<Input> some = inputs;
    for (Input& in : some) {
      if (in.row == 0) continue;
      if (in.ids.empty()) {
        in.values = {in.values.begin() + begin * in.row, in.values.begin() + end * in.row};
      } else {
        in.ids = {in.ids.begin() + begin * in.row, in.ids.begin() + end * in.row};
      }
    }
    const Results alone = run_op(c, backend, part, some);
    for (size_t i = 0; i < specs.size(); ++i) {
      EXPECT(same_bits(alone[i].data(), whole[i].data() + begin * specs[i].row,
                       alone[i].size() * sizeof(float)));
    }
  }
}

}  // namespace

uint64_t Random::bits() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

float Random::normal() {
  const double r = std::sqrt(-2 * std::log(1 - uniform()));
  return static_cast<float>(r * std::cos(6.283185307179586 * uniform()));
}

std::vector<float> Random::normals(int64_t n, float scale) {
  std::vector<float> x(static_cast<size_t>(n));
  for (float& v : x) v = normal() * scale;
  return x;
}

Guarded::Guarded(int64_t count, float fill)
    : bytes_(static_cast<size_t>(count) * sizeof(float) + 2 * kGuard, 0xA5),
      used_(static_cast<size_t>(count) * sizeof(float)) {
  std::fill(data(), data() + count, fill);
}

bool Guarded::intact() const {
  for (size_t i = 0; i < kGuard; ++i) {
    if (bytes_[i] != 0xA5 || bytes_[kGuard + used_ + i] != 0xA5) return false;
  }
  return true;
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (InstructionSet set : {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::portable}) {
    if (instruction_set_supported(set)) names.push_back(instruction_set_name(set));
  }
  return names;
}

std::unique_ptr<Backend> open_cpu(const std::string& set, int threads) {
  BackendOptions options;
  options.instruction_set = set;
  options.threads = threads;
  return open_backend("cpu", options);
}

void for_each_backend(const std::function<void(Backend&)>& body) {
  for (const std::string& set : instruction_sets()) {
    for (int threads : kThreadCounts) {
      check::Scope scope(set + ", threads " + std::to_string(threads));
      body(*open_cpu(set, threads));
    }
  }
}

double relative_distance(const float* got, const Doubles& want, double least) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return difference == 0 ? 0 : std::sqrt(difference) / std::max(least, std::sqrt(size));
}

bool same_bits(const void* a, const void* b, size_t bytes) {
  return bytes == 0 || std::memcmp(a, b, bytes) == 0;
}

Doubles widen(const std::vector<float>& x) {
  return {x.begin(), x.end()};
}

Doubles numeric_gradient(const std::function<Doubles(const Doubles&)>& f, Doubles x,
                         const std::vector<float>& weights) {
  constexpr double step = 1e-4;
  auto loss = [&] {
    const Doubles y = f(x);
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += weights[i] * y[i];
    return sum;
  };
  Doubles gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + step;
    const double above = loss();
    x[i] = at - step;
    const double below = loss();
    x[i] = at;
    gradient[i] = (above - below) / (2 * step);
  }
  return gradient;
}

void check_op(const OpCase& c) {
  for (const Shape& shape : c.shapes) {
    check::Scope where(c.name + " " + describe(shape));
    Random random(5);
    const std::vector<Input> inputs = c.inputs(shape, random);
    const std::vector<Doubles> want = c.reference(shape, inputs);
    const std::vector<Output> specs = c.outputs(shape);
    bool adds = false;
    for (const Output& out : specs) adds = adds || out.adds;
    for (const std::string& set : instruction_sets()) {
      Results one_thread;
      for (int threads : kThreadCounts) {
        check::Scope scope(set + ", threads " + std::to_string(threads));
        auto backend = open_cpu(set, threads);
        const Results got = run_op(c, *backend, shape, inputs);
        if (threads == 1) {
          one_thread = got;
          compare(c, specs, got, want, 1);
          if (adds) compare(c, specs, run_op(c, *backend, shape, inputs, 2), want, 2);
        }
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT(same_bits(got[i].data(), one_thread[i].data(), got[i].size() * sizeof(float)));
        }
        check_rows(c, *backend, shape, inputs, one_thread);
      }
    }
  }
}

}  // namespace skillgate::test
