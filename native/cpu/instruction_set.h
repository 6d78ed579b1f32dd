// Which vector instructions the kernels use. Chosen once when a backend is opened.
#pragma once
#include <string>

namespace skillgate {

enum class InstructionSet { portable, avx2, avx512 };

const char* instruction_set_name(InstructionSet set);

// True if this build has kernels for the set and this processor and operating system can run them.
bool instruction_set_supported(InstructionSet set);

// name: "avx512", "avx2", "portable", or "" for the best supported one. Throws Failure ERR_INVALID_OPTION.
InstructionSet choose_instruction_set(const std::string& name);

}  // namespace skillgate
