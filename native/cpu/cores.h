// How many cores this process may use, and where a thread runs.
#pragma once
#include <string>

namespace skillgate {

// The processor's cores, within the process's affinity and its control group's quota; at least 1.
int usable_cores();

// Cores of the text of a control group's cpu.max, "quota period" in microseconds, rounded up; 0: no limit
// ("max ...", or not of that form).
int cores_of_quota(const std::string& cpu_max);

// Where the calling thread runs; -1 where the system does not say.
int current_core();

// Moves the calling thread to another core that it may use, if it runs on `core`; what it may use stays as it
// is. False where it was elsewhere or nothing else is allowed.
bool leave_core(int core);

}  // namespace skillgate
