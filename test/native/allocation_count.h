// Counts the allocations of the whole process, of every kind, where the C library lets them be watched.
#pragma once
#include <cstdint>

namespace check {

struct Allocations {
  int64_t count = 0, bytes = 0;
};
// Since the process began; -1, -1 where they cannot be watched (sanitizers, other C libraries).
Allocations allocations();

}  // namespace check
