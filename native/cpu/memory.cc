#include "cpu/memory.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

namespace skillgate {

namespace {

std::string read_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The number after `key` at the start of a line; -1: no such line.
int64_t field(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string word; lines >> word; std::getline(lines, word)) {
    int64_t value = -1;
    if (word == key) return lines >> value && value >= 0 ? value : -1;
  }
  return -1;
}

int64_t number(const std::string& text) {
  std::istringstream words(text);
  int64_t value = -1;
  return words >> value && value >= 0 ? value : -1;
}

}  // namespace

int64_t available_in_meminfo(const std::string& meminfo) {
  const int64_t kib = field(meminfo, "MemAvailable:");
  return kib < 0 || kib > std::numeric_limits<int64_t>::max() / 1024 ? -1 : kib * 1024;
}

int64_t left_in_control_group(const std::string& max, const std::string& current, const std::string& stat) {
  const int64_t limit = number(max), used = number(current);
  if (limit < 0 || used < 0) return -1;
  const int64_t droppable = std::min(used, std::max<int64_t>(0, field(stat, "inactive_file")));
  return std::max<int64_t>(0, limit - (used - droppable));
}

int64_t available_memory() {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int64_t bytes : {available_in_meminfo(read_text("/proc/meminfo")),
                              left_in_control_group(read_text("/sys/fs/cgroup/memory.max"),
                                                    read_text("/sys/fs/cgroup/memory.current"),
                                                    read_text("/sys/fs/cgroup/memory.stat"))})
    if (bytes >= 0) least = std::min(least, bytes);
  return least;
}

}  // namespace skillgate
