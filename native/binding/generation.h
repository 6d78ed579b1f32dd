// The requests and sessions of one policy's Generator, on the policy's job thread. Sessions are known outside
// by handles chosen there, so that opening, forking and closing one never has to wait for the thread.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "binding/job_thread.h"
#include "train/policy.h"

namespace skillgate {

class Generation {
 public:
  explicit Generation(Policy& policy) : policy_(policy) {}

  void open(int64_t handle);
  void fork(int64_t handle, int64_t from);
  void close(int64_t handle);  // a request of it that is in flight ends first

  // `out` holds the result when the job is settled. session: a handle, or -1 for none.
  void start(const JobPtr& job, int64_t session, GenerateRequest request,
             std::shared_ptr<GenerateResult> out);

  bool idle() const { return requests_.empty(); }
  void advance(JobThread& thread);
  void forget() { policy_.generator().forget(); }

 private:
  struct Request {
    JobPtr job;
    std::shared_ptr<GenerateResult> out;
    int64_t session = -1;
    bool abort_sent = false;
  };
  struct Session {
    int64_t id = 0;  // the generator's
    bool in_use = false;
    bool close_after = false;
  };

  void end(uint64_t id, JobThread& thread, const Failure* failure);
  void fail_all(const Failure& failure, JobThread& thread);

  Policy& policy_;
  std::unordered_map<uint64_t, Request> requests_;  // by job id, which is the request's id too
  std::unordered_map<int64_t, Session> sessions_;
  std::optional<Failure> broken_;  // the generator could not be brought back to rest after a failure
};

}  // namespace skillgate
