// One request a line, one answer a line:
//   {"do": "open", "threads": 2, "instruction_set": ""}    -> {"description": "avx512, 2 threads"}
//   {"do": "prepare", "name": "a", "op": "matmul", ...}    -> {"shape": "...", "flop": ..., "bytes": ...}
//   {"do": "run", "name": "a", "repeat": 3}                -> {"ns": one run's, "cpu_ns": one run's, all threads}
//   {"do": "result", "name": "a"}                          -> what the case says of its result
//   {"do": "drop", "name": "a"}                            -> {}
// What fails is answered with {"error": "..."}; the end of the input ends the program.
#include <ctime>
#include <exception>
#include <iostream>
#include <map>
#include <string>

#include "backend/status.h"
#include "bench_case.h"

namespace skillgate::bench {
namespace {

int64_t nanoseconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

class Server {
 public:
  Json answer(const Json& request) {
    const Spec spec(request);
    const std::string what = spec.text("do", "");
    if (what == "open") return open(spec);
    if (what == "prepare") return prepare(spec);
    const std::string name = spec.text("name", "");
    const auto found = cases_.find(name);
    if (found == cases_.end()) throw Failure("ERR_BENCH", "no case named \"" + name + "\"");
    if (what == "run") return run(found->second, spec.size("repeat", 1));
    if (what == "result" && found->second.result) return found->second.result();
    if (what == "drop") {
      cases_.erase(found);
      return Json::object();
    }
    throw Failure("ERR_BENCH", "cannot do \"" + what + "\"");
  }

 private:
  Json open(const Spec& spec) {
    BackendOptions options;
    options.threads = threads_ = static_cast<int>(spec.size("threads"));
    options.instruction_set = spec.text("instruction_set", "");
    cases_.clear();
    backend_ = open_backend("cpu", options);
    Json out = Json::object();
    out.set("description", Json::of(backend_->description()));
    return out;
  }

  Json prepare(const Spec& spec) {
    if (!backend_) throw Failure("ERR_BENCH", "prepare comes after open");
    const std::string wanted = spec.text("op", "");
    for (const Op& op : ops()) {
      if (wanted != op.name) continue;
      const std::string name = spec.text("name", wanted);
      cases_.erase(name);
      const Case& made = cases_[name] = op.make(spec, *backend_, threads_);
      Json out = Json::object();
      out.set("shape", Json::of(made.shape));
      out.set("flop", Json::of(static_cast<int64_t>(made.flop)));
      out.set("bytes", Json::of(static_cast<int64_t>(made.bytes)));
      return out;
    }
    throw Failure("ERR_BENCH", "no op named \"" + wanted + "\"");
  }

  static Json run(const Case& timed, int64_t repeat) {
    const int64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC);
    for (int64_t i = 0; i < repeat; ++i) timed.run();
    Json out = Json::object();
    out.set("ns", Json::of((nanoseconds(CLOCK_MONOTONIC) - wall) / repeat));
    out.set("cpu_ns", Json::of((nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / repeat));
    return out;
  }

  int threads_ = 1;
  std::unique_ptr<Backend> backend_;
  std::map<std::string, Case> cases_;
};

}  // namespace
}  // namespace skillgate::bench

int main() {
  using skillgate::Json;
  skillgate::bench::Server server;
  std::string line;
  while (std::getline(std::cin, line)) {
    Json out = Json::object();
    try {
      out = server.answer(Json::parse(line));
    } catch (const std::exception& error) {
      out.set("error", Json::of(std::string(error.what())));
    }
    std::cout << out.dump() << std::endl;
  }
}
