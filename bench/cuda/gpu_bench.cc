//   gpu_bench policy_loss T D V rounds
//   gpu_bench update folder sequences length
//   gpu_bench decode folder sequences length tokens
#include "gpu_bench.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

int main(int argc, char** argv) {
  using namespace skillgate::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  auto number = [&](int i) { return std::strtoll(argv[i], nullptr, 10); };
  try {
    if (what == "policy_loss" && argc == 6) {
      measure_policy_loss(number(2), number(3), number(4), static_cast<int>(number(5)));
    } else if (what == "update" && argc == 5) {
      measure_update(argv[2], number(3), number(4));
    } else if (what == "decode" && argc == 6) {
      measure_decode(argv[2], number(3), number(4), number(5));
    } else {
      std::fprintf(stderr,
                   "expected policy_loss T D V rounds | update folder sequences length | "
                   "decode folder sequences length tokens\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
