#include "golden_file.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace skillgate::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// What follows "key": in flat JSON, up to the next , or } (or, in brackets, up to the closing one).
std::string value_of(const std::string& json, const std::string& key, size_t from = 0) {
  size_t at = json.find('"' + key + '"', from);
  if (at == std::string::npos) return "";
  at = json.find_first_not_of(" :\n", at + key.size() + 2);
  if (json[at] == '[') return json.substr(at + 1, json.find(']', at) - at - 1);
  if (json[at] == '"') return json.substr(at + 1, json.find('"', at + 1) - at - 1);
  return json.substr(at, json.find_first_of(",}\n", at) - at);
}

std::vector<int64_t> whole_numbers(const std::string& list) {
  std::vector<int64_t> numbers;
  std::stringstream items(list);
  for (std::string n; std::getline(items, n, ',');) numbers.push_back(std::stoll(n));
  return numbers;
}

}  // namespace

GoldenFile::GoldenFile(const std::string& path) {
  const std::string base = std::string(SKILLGATE_TEST_ROOT) + "/fixtures/golden/" + path;
  json_ = read_file(base + ".json");
  const std::string file = read_file(base + ".safetensors");
  uint64_t header_bytes;
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  header_ = file.substr(8, header_bytes);
  data_ = file.substr(8 + header_bytes);
}

size_t GoldenFile::place(const std::string& name) const {
  const size_t at = header_.find('"' + name + "\":{");
  if (at == std::string::npos) throw std::runtime_error("no tensor " + name);
  return at;
}

std::vector<int64_t> GoldenFile::shape(const std::string& name) const {
  return whole_numbers(value_of(header_, "shape", place(name)));
}

template <class T>
std::vector<T> GoldenFile::read(const std::string& name, const std::string& type) const {
  const std::string found = value_of(header_, "dtype", place(name));
  if (found != type) throw std::runtime_error(name + " is " + found + ", expected " + type);
  const std::vector<int64_t> range = whole_numbers(value_of(header_, "data_offsets", place(name)));
  std::vector<T> values(static_cast<size_t>(range[1] - range[0]) / sizeof(T));
  std::memcpy(values.data(), data_.data() + range[0], values.size() * sizeof(T));
  return values;
}

template std::vector<float> GoldenFile::read<float>(const std::string&, const std::string&) const;
template std::vector<int32_t> GoldenFile::read<int32_t>(const std::string&, const std::string&) const;

double GoldenFile::number(const std::string& key, double otherwise) const {
  const std::string value = value_of(json_, key);
  return value.empty() || value == "null" ? otherwise : std::stod(value);
}

std::string GoldenFile::text(const std::string& key) const {
  return value_of(json_, key);
}

}  // namespace skillgate::test
