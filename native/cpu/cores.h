// How many cores this process may use.
#pragma once
#include <string>

namespace skillgate {

// The processor's cores, within the process's affinity and its control group's quota; at least 1.
int usable_cores();

// Cores of the text of a control group's cpu.max, "quota period" in microseconds, rounded up; 0: no limit
// ("max ...", or not of that form).
int cores_of_quota(const std::string& cpu_max);

}  // namespace skillgate
