// From JavaScript values to plain C++ ones, checked, and from Failure to Error. Arrays are copied the moment
// they are read, so that nothing a getter or another thread does afterwards can reach the copy.
#pragma once
#include <napi.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "backend/status.h"
#include "binding/job.h"

namespace skillgate {

Napi::Error to_error(Napi::Env env, const Failure& failure);

// Runs the body of an exported function: a Failure, or any other exception, becomes an Error with a `code`.
template <typename Body>
auto guard(const Napi::CallbackInfo& info, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw to_error(info.Env(), current_failure());
  }
}

// What came, for messages: `undefined`, `"abc"`, `Float32Array of length 3`.
std::string describe(const Napi::Value& value);
std::string describe(double value);
std::string describe(float value);

struct Range {
  double low, high;
  bool low_open = false, high_open = false;
  bool holds(double x) const { return (low_open ? x > low : x >= low) && (high_open ? x < high : x <= high); }
  std::string text() const;  // "(0, 1]"
};

template <typename T>
struct ArrayType;  // napi type and JavaScript name of a typed array

// The fields of one argument object. Every failure names the function, the field, what was expected and what
// came: ERR_INVALID_ARGUMENT (type), ERR_SHAPE (length), ERR_OUT_OF_RANGE, ERR_NOT_FINITE. undefined and null
// are absent.
class Fields {
 public:
  Fields(std::string where, const Napi::Value& value);
  const std::string& where() const { return where_; }

  bool has(const char* name) const;
  Napi::Value get(const char* name) const { return object_.Get(name); }
  Fields object(const char* name) const;

  // A copy of a typed array; length -1 takes any.
  template <typename T>
  std::vector<T> array(const char* name, int64_t length = -1) const;

  // A required field without a fallback.
  double number(const char* name, Range range, std::optional<double> fallback = std::nullopt) const;
  float single(const char* name, Range range, std::optional<double> fallback = std::nullopt) const;
  int64_t integer(const char* name, int64_t low, int64_t high,
                  std::optional<int64_t> fallback = std::nullopt) const;
  uint64_t seed(const char* name) const;  // a whole number or bigint in 0 .. 2^64-1; 0 if absent
  bool boolean(const char* name, bool fallback) const;
  std::string text(const char* name, std::optional<std::string> fallback = std::nullopt) const;
  size_t choice(const char* name, std::initializer_list<const char*> choices,
                std::optional<size_t> fallback) const;
  std::vector<int32_t> ids(const char* name,
                           int64_t vocabulary) const;  // array or Int32Array; empty if absent

  Failure wrong(const char* name, const std::string& expected, const Napi::Value& came,
                const char* code = "ERR_INVALID_ARGUMENT") const;

 private:
  std::string where_;
  Napi::Object object_;
};

// A non-empty string without NUL: a path or a name.
std::string text_argument(const char* where, const char* name, const Napi::Value& value);

// A typed array made on the JavaScript thread that a job writes into: its memory stays where it is until the
// job has settled, for nobody else has seen the array yet.
template <typename T>
class OutArray {
 public:
  OutArray(Napi::Env env, size_t length);
  T* data() const { return data_; }
  Napi::Value value() const { return reference_.Value(); }

 private:
  T* data_ = nullptr;
  Napi::ObjectReference reference_;
};

}  // namespace skillgate
