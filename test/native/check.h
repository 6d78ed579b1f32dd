// A small test harness.
//   TEST(name) { EXPECT(condition); EXPECT_EQ(got, want); EXPECT_NEAR(got, want, tolerance);
//   EXPECT_FAILURE(code, call); }
// A failed expectation is printed with its place and the test goes on; the test then counts as failed.
// native_test takes a part of a test's name as a filter; its last line is "N passed, N failed".
#pragma once
#include <sstream>
#include <string>

#include "backend/status.h"

namespace check {

struct Registration {
  Registration(const char* file, const char* name, void (*body)());
};

void fail(const char* file, int line, const std::string& text);

// Says where the expectations that follow stand, for the text of a failure: an op case, a shape, a number of
// threads.
class Scope {
 public:
  explicit Scope(std::string text);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

template <class T>
std::string show(const T& x) {
  std::ostringstream out;
  out.precision(9);
  if constexpr (sizeof(T) == 1) {
    out << static_cast<int>(x);
  } else {
    out << x;
  }
  return out.str();
}
inline std::string show(const std::string& x) {
  return '"' + x + '"';
}

template <class A, class B>
void expect_eq(const char* file, int line, const char* text, const A& got, const B& want) {
  if (!(got == want)) fail(file, line, std::string(text) + ": expected " + show(want) + ", got " + show(got));
}

void expect_near(const char* file, int line, const char* text, double got, double want, double tolerance);

template <class Call>
void expect_failure(const char* file, int line, const char* text, const std::string& code, const Call& call) {
  try {
    call();
  } catch (const skillgate::Failure& e) {
    if (e.code() != code)
      fail(file, line, std::string(text) + ": expected " + code + ", got " + e.code() + ": " + e.what());
    return;
  }
  fail(file, line, std::string(text) + ": expected " + code + ", nothing was thrown");
}

}  // namespace check

#define TEST(name)                                                                   \
  static void check_body_##name();                                                   \
  static check::Registration check_entry_##name(__FILE__, #name, check_body_##name); \
  static void check_body_##name()

#define EXPECT(condition)                                          \
  do {                                                             \
    if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
  } while (0)
#define EXPECT_EQ(got, want) check::expect_eq(__FILE__, __LINE__, #got, got, want)
#define EXPECT_NEAR(got, want, tolerance) check::expect_near(__FILE__, __LINE__, #got, got, want, tolerance)
#define EXPECT_FAILURE(code, call) check::expect_failure(__FILE__, __LINE__, #call, code, [&] { call; })
