// What must hold of arrays before the engine sees them; plain C++. Failures name the function, the field, the
// index, what was expected and what came.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace skillgate {

// From 0 to total, strictly increasing, at least one sequence: ERR_SHAPE.
void check_offsets(const std::string& where, const std::vector<int32_t>& offsets, int64_t total);

// Every id in 0 .. vocabulary-1: ERR_INVALID_TOKEN.
void check_tokens(const std::string& where, const char* field, const std::vector<int32_t>& tokens,
                  int64_t vocabulary);

// Every value finite: ERR_NOT_FINITE.
void check_finite(const std::string& where, const char* field, const std::vector<float>& values);
[[noreturn]] void fail_not_finite(const std::string& where, const char* field, size_t index, float value);

// Half-open ranges start[i] .. end[i] within 0 .. total: ERR_OUT_OF_RANGE.
void check_ranges(const std::string& where, const char* start_field, const char* end_field,
                  const std::vector<int32_t>& start, const std::vector<int32_t>& end, int64_t total);

}  // namespace skillgate
