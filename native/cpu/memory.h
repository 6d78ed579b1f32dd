// How much memory the system can still give.
#pragma once
#include <cstdint>
#include <string>

namespace skillgate {

// From the text of /proc/meminfo: MemAvailable in bytes; -1 where it is not there.
int64_t available_in_meminfo(const std::string& meminfo);

// From a control group's memory.max, memory.current and memory.stat: what is left below the limit, file
// pages that can be dropped counted as free; -1 where there is no limit.
int64_t left_in_control_group(const std::string& max, const std::string& current, const std::string& stat);

// The smaller of the two on this system, in bytes; the largest int64 where neither is known.
int64_t available_memory();

}  // namespace skillgate
