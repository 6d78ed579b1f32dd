#include "cpu/cores.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace skillgate {

int cores_of_quota(const std::string& cpu_max) {
  std::istringstream words(cpu_max);
  long long quota = 0, period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<long long>((quota - 1) / period + 1, 1 << 20));
}

int usable_cores() {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string text;
  std::getline(file, text);
  const int quota = cores_of_quota(text);
  return quota > 0 ? std::min(cores, quota) : cores;
}

}  // namespace skillgate
