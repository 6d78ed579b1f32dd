// What one JavaScript environment (the main thread or a worker) owes and owns: the promises not yet settled
// and the job threads it started. When the environment goes, its threads are stopped and joined first.
#pragma once
#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "binding/job_thread.h"

namespace skillgate {

// The JavaScript side of a job.
struct Pending {
  std::function<Napi::Value(Napi::Env)> result;  // its value; called on the JavaScript thread
  std::function<void(const Failure*)> settled;   // called first, with the failure or null; may be empty
  std::shared_ptr<Napi::ObjectReference> owner;  // kept from the garbage collector until then; may be null
};

class Environment : public Outbox {
 public:
  explicit Environment(Napi::Env env);
  ~Environment() override;

  // On the JavaScript thread.
  std::shared_ptr<JobThread> start_thread(std::unique_ptr<Host> host, const std::string& owner);
  uint64_t next_id() { return ++last_id_; }
  Napi::Promise submit(JobThread& thread, JobPtr job, Pending pending);  // Failure ERR_DISPOSED: closed
  void stop_all();  // aborts what runs and joins every thread

  void post(Completion completion) override;

 private:
  struct Promised {
    Napi::Promise::Deferred deferred;
    Pending pending;
  };
  struct Owned {
    std::shared_ptr<JobThread> thread;
    int64_t accounted_bytes = 0;  // what the garbage collector was told of
  };

  void drain();
  void settle(const Completion& completion);
  void account(JobThread* thread, int64_t bytes);

  Napi::Env env_;
  Napi::ThreadSafeFunction wake_;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Promised> promised_;
  std::unordered_map<JobThread*, Owned> threads_;

  std::mutex mutex_;
  std::vector<Completion> completions_;  // guarded by mutex_
};

}  // namespace skillgate
