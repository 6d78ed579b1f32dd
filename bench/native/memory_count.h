// Bytes that the program holds, counted where it asks the allocator for them.
#pragma once
#include <cstdint>

namespace skillgate::bench {

int64_t held_bytes();
int64_t most_held_bytes();  // since the last call of forget_most_held
void forget_most_held();
bool memory_is_counted();  // false where the linker cannot put this in between

}  // namespace skillgate::bench
