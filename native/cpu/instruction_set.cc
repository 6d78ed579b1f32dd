#include "cpu/instruction_set.h"

#include "backend/status.h"

namespace skillgate {

const char* instruction_set_name(InstructionSet set) {
  switch (set) {
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx2:
      return "avx2";
    default:
      return "portable";
  }
}

bool instruction_set_supported(InstructionSet set) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  switch (set) {
    case InstructionSet::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    default:
      return true;
  }
#else
  return set == InstructionSet::portable;
#endif
}

InstructionSet choose_instruction_set(const std::string& name) {
  constexpr InstructionSet best_first[] = {InstructionSet::avx512, InstructionSet::avx2,
                                           InstructionSet::portable};
  for (InstructionSet set : best_first) {
    if (name.empty() && instruction_set_supported(set)) return set;
    if (name != instruction_set_name(set)) continue;
    if (!instruction_set_supported(set)) {
      throw Failure("ERR_INVALID_OPTION",
                    "instruction set \"" + name + "\" is not supported by this processor");
    }
    return set;
  }
  throw Failure("ERR_INVALID_OPTION",
                "expected instruction set \"avx512\", \"avx2\" or \"portable\", got \"" + name + "\"");
}

}  // namespace skillgate
