#include "golden_file.h"

#include <cstring>
#include <fstream>
#include <regex>
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

}  // namespace

GoldenFile::GoldenFile(const std::string& path) {
  const std::string base = std::string(SKILLGATE_TEST_ROOT) + "/fixtures/golden/" + path;
  json_ = read_file(base + ".json");
  const std::string file = read_file(base + ".safetensors");
  uint64_t header_bytes;
  std::memcpy(&header_bytes, file.data(), sizeof header_bytes);
  const std::string header = file.substr(8, header_bytes);
  data_ = file.substr(8 + header_bytes);
  const std::regex tensor(
      R"re("([^"]+)"\s*:\s*\{\s*"dtype"\s*:\s*"(\w+)"\s*,\s*"shape"\s*:\s*\[([^\]]*)\]\s*,\s*"data_offsets"\s*:\s*\[\s*(\d+)\s*,\s*(\d+)\s*\])re");
  for (std::sregex_iterator it(header.begin(), header.end(), tensor), end; it != end; ++it) {
    Entry e{(*it)[2], {}, std::stoull((*it)[4]), std::stoull((*it)[5])};
    std::stringstream dims((*it)[3].str());
    for (std::string n; std::getline(dims, n, ',');) e.shape.push_back(std::stoll(n));
    entries_[(*it)[1]] = e;
  }
}

const GoldenFile::Entry& GoldenFile::entry(const std::string& name) const {
  auto found = entries_.find(name);
  if (found == entries_.end()) throw std::runtime_error("no tensor " + name);
  return found->second;
}

template <class T>
std::vector<T> GoldenFile::read(const std::string& name, const std::string& type) const {
  const Entry& e = entry(name);
  if (e.type != type) throw std::runtime_error(name + " is " + e.type + ", expected " + type);
  std::vector<T> values((e.end - e.begin) / sizeof(T));
  std::memcpy(values.data(), data_.data() + e.begin, e.end - e.begin);
  return values;
}

template std::vector<float> GoldenFile::read<float>(const std::string&, const std::string&) const;
template std::vector<int32_t> GoldenFile::read<int32_t>(const std::string&, const std::string&) const;

double GoldenFile::number(const std::string& key, double otherwise) const {
  std::smatch match;
  const std::regex pattern("\"" + key + "\"\\s*:\\s*(-?[0-9][0-9.eE+-]*)");
  return std::regex_search(json_, match, pattern) ? std::stod(match[1]) : otherwise;
}

std::string GoldenFile::text(const std::string& key) const {
  std::smatch match;
  const std::regex pattern("\"" + key + "\"\\s*:\\s*\"([^\"]*)\"");
  if (!std::regex_search(json_, match, pattern)) throw std::runtime_error("no text " + key);
  return match[1];
}

}  // namespace skillgate::test
