// A piece of work for a thread of its own, and how its end is told. Nothing here knows JavaScript.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/status.h"

namespace skillgate {

struct Job;
using JobPtr = std::shared_ptr<Job>;

struct Job {
  enum class Kind : uint8_t {
    brief,       // bookkeeping: does not count as a turn between two passes of generation
    generation,  // starts a request; the host settles it when that ends. Aborted, it has a result
    normal,      // may run between two passes of generation
    exclusive,   // changes weights: waits until no request is in flight, and what comes later waits for it
  };

  uint64_t id = 0;   // 0: nobody waits for its end
  std::string what;  // "logprobs()", for messages
  Kind kind = Kind::normal;
  std::atomic<bool> stop{false};
  std::function<void(const JobPtr&)> run;  // on the job thread; a Failure is the job's error
};

class JobThread;

struct Completion {
  enum class Kind : uint8_t { settled, ended };  // ended: the thread did its last and can be joined
  Kind kind = Kind::settled;
  JobThread* thread = nullptr;
  uint64_t job = 0;
  std::optional<Failure> failure;
  int64_t resident_bytes = 0;  // of the thread's host, after its latest job
};

// Where a thread leaves its completions; called on any thread.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual void post(Completion completion) = 0;
};

// What a job thread works on. Lives and dies on that thread.
class Host {
 public:
  virtual ~Host() = default;
  virtual bool idle() const { return true; }      // false: advance() has something to do
  virtual void advance(JobThread& /*thread*/) {}  // one bounded step of the work that goes on between jobs
  virtual int64_t resident_bytes() const { return 0; }
};

// The exception being handled, as a Failure; ERR_NATIVE where it has no code of its own.
Failure current_failure();

}  // namespace skillgate
