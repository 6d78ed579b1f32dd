// Reads the reference files under test/fixtures/golden: float32 and int32 tensors of a safetensors file, and
// numbers of the flat JSON file beside it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace skillgate::test {

class GoldenFile {
 public:
  // path below test/fixtures/golden, without its extension
  explicit GoldenFile(const std::string& path);

  std::vector<int64_t> shape(const std::string& name) const;
  std::vector<float> floats(const std::string& name) const { return read<float>(name, "F32"); }
  std::vector<int32_t> ints(const std::string& name) const { return read<int32_t>(name, "I32"); }

  // Of the JSON file. A number that is null or missing reads as `otherwise`.
  double number(const std::string& key, double otherwise = 0) const;
  std::string text(const std::string& key) const;

 private:
  size_t place(const std::string& name) const;
  template <class T>
  std::vector<T> read(const std::string& name, const std::string& type) const;

  std::string header_, data_, json_;
};

}  // namespace skillgate::test
