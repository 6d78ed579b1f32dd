// The one error type of the native code: a machine-readable code and a text for people.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace skillgate {

class Failure : public std::runtime_error {
 public:
  Failure(std::string code, const std::string& text) : std::runtime_error(text), code_(std::move(code)) {}
  const std::string& code() const { return code_; }

 private:
  std::string code_;
};

}  // namespace skillgate
