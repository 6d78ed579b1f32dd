#include "check.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

namespace check {
namespace {

struct Entry {
  std::string name;
  void (*body)();
};

std::vector<Entry>& entries() {
  static std::vector<Entry> list;
  return list;
}

std::vector<std::string>& scopes() {
  static std::vector<std::string> list;
  return list;
}

constexpr int kPrintedFailures = 20;
int failures = 0;

std::string stem(const char* file) {
  const char* slash = std::strrchr(file, '/');
  std::string name = slash ? slash + 1 : file;
  return name.substr(0, name.rfind("_test"));
}

}  // namespace

Registration::Registration(const char* file, const char* name, void (*body)()) {
  entries().push_back({stem(file) + "." + name, body});
}

Scope::Scope(std::string text) {
  scopes().push_back(std::move(text));
}
Scope::~Scope() {
  scopes().pop_back();
}

void fail(const char* file, int line, const std::string& text) {
  if (++failures > kPrintedFailures) return;
  std::printf("  %s:%d: %s", file, line, text.c_str());
  for (const std::string& scope : scopes()) std::printf(" [%s]", scope.c_str());
  std::printf("\n");
}

void expect_near(const char* file, int line, const char* text, double got, double want, double tolerance) {
  if (std::abs(got - want) <= tolerance) return;  // false for NaN
  fail(file, line,
       std::string(text) + ": expected " + show(want) + " +- " + show(tolerance) + ", got " + show(got));
}

}  // namespace check

int main(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  int passed = 0, failed = 0;
  for (const check::Entry& entry : check::entries()) {
    if (entry.name.find(filter) == std::string::npos) continue;
    check::failures = 0;
    try {
      entry.body();
    } catch (const std::exception& e) {
      check::fail(entry.name.c_str(), 0, std::string("unexpected exception: ") + e.what());
    }
    std::printf("%s %s\n", check::failures == 0 ? "ok    " : "FAILED", entry.name.c_str());
    std::fflush(stdout);
    ++(check::failures == 0 ? passed : failed);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
