#include "binding/checks.h"

#include <cmath>

#include "backend/status.h"
#include "binding/convert.h"

namespace skillgate {

namespace {

std::string at(const std::string& where, const char* field, size_t index) {
  return where + ": expected " + field + "[" + std::to_string(index) + "] to be ";
}

}  // namespace

void check_offsets(const std::string& where, const std::vector<int32_t>& offsets, int64_t total) {
  const std::string expected = where + ": expected sequenceOffsets to rise strictly from 0 to " +
                               std::to_string(total) + " (the number of tokens), got ";
  if (offsets.size() < 2) {
    throw Failure("ERR_SHAPE", expected + std::to_string(offsets.size()) + " entries; at least 2 are needed");
  }
  if (offsets.front() != 0) throw Failure("ERR_SHAPE", expected + std::to_string(offsets.front()) + " first");
  for (size_t i = 1; i < offsets.size(); i++) {
    if (offsets[i] > offsets[i - 1]) continue;
    throw Failure("ERR_SHAPE", expected + std::to_string(offsets[i]) + " after " +
                                   std::to_string(offsets[i - 1]) + " at index " + std::to_string(i));
  }
  if (offsets.back() != total)
    throw Failure("ERR_SHAPE", expected + std::to_string(offsets.back()) + " last");
}

void check_tokens(const std::string& where, const char* field, const std::vector<int32_t>& tokens,
                  int64_t vocabulary) {
  for (size_t i = 0; i < tokens.size(); i++) {
    if (tokens[i] >= 0 && tokens[i] < vocabulary) continue;
    throw Failure("ERR_INVALID_TOKEN", at(where, field, i) + "a token id from 0 to " +
                                           std::to_string(vocabulary - 1) + ", got " +
                                           std::to_string(tokens[i]));
  }
}

void fail_not_finite(const std::string& where, const char* field, size_t index, float value) {
  throw Failure("ERR_NOT_FINITE", at(where, field, index) + "a finite number, got " + describe(value));
}

void check_finite(const std::string& where, const char* field, const std::vector<float>& values) {
  for (size_t i = 0; i < values.size(); i++) {
    if (!std::isfinite(values[i])) fail_not_finite(where, field, i, values[i]);
  }
}

void check_ranges(const std::string& where, const char* start_field, const char* end_field,
                  const std::vector<int32_t>& start, const std::vector<int32_t>& end, int64_t total) {
  for (size_t i = 0; i < start.size(); i++) {
    if (start[i] >= 0 && start[i] <= end[i] && end[i] <= total) continue;
    throw Failure("ERR_OUT_OF_RANGE", where + ": expected 0 <= " + start_field + " <= " + end_field +
                                          " <= " + std::to_string(total) + " at index " + std::to_string(i) +
                                          ", got " + std::to_string(start[i]) + " and " +
                                          std::to_string(end[i]));
  }
}

}  // namespace skillgate
