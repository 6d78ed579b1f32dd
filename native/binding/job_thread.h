// One thread that runs jobs in the order they were submitted, with steps of generation in between. Not
// libuv's pool: its threads are few, shared with file access, and cannot be stopped when the process exits.
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "binding/job.h"

namespace skillgate {

class JobThread {
 public:
  JobThread(Outbox& outbox, std::unique_ptr<Host> host, std::string owner);
  ~JobThread();
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  bool submit(JobPtr job);  // false: the thread was closed
  void abort(
      uint64_t id);  // a queued job ends at once, a running one at its next look at `stop`; unknown ids pass
  void close();      // aborts everything, frees the host and posts `ended`; returns at once
  void join();       // after close()

  // On the job thread: the end of a job. Null: it has a result.
  void settle(const JobPtr& job, const Failure* failure);

 private:
  void loop();
  void run(const JobPtr& job);
  JobPtr next();  // waits; null: nothing may start now, but the host has work
  Failure closed(const Job& job) const;
  Failure aborted(const Job& job) const;

  Outbox& outbox_;
  const std::string owner_;  // "policy", for messages
  std::unique_ptr<Host> host_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<JobPtr> queue_;
  std::unordered_map<uint64_t, JobPtr> live_;  // queued, running or in the host's hands
  std::atomic<bool> closing_{false};
  std::atomic<int64_t> resident_bytes_{0};  // of the host, after the latest job
  std::thread thread_;
};

}  // namespace skillgate
