#include "cpu/cores.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

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

#if defined(__linux__)

int current_core() {
  return sched_getcpu();
}

bool leave_core(int core) {
  if (core < 0 || current_core() != core) return false;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return false;
  sched_setaffinity(0, sizeof allowed, &allowed);
  return true;
}

#else

int current_core() {
  return -1;
}

bool leave_core(int) {
  return false;
}

#endif

}  // namespace skillgate
