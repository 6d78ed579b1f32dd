// Takes the completions of job threads and lets a test wait for them.
#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "binding/job.h"

class RecordingOutbox : public skillgate::Outbox {
 public:
  void post(skillgate::Completion completion) override {
    std::lock_guard lock(mutex_);
    if (completion.kind == skillgate::Completion::Kind::ended) {
      ended_++;
    } else {
      settled_[completion.job].push_back(completion.failure ? completion.failure->code() : "done");
      order_ += std::to_string(completion.job) + " ";
    }
    changed_.notify_all();
  }

  // The code of the job's failure, or "done"; "twice" if it was settled more than once.
  std::string wait(uint64_t job) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return settled_.count(job) > 0; });
    return settled_[job].size() == 1 ? settled_[job][0] : "twice";
  }
  bool settled(uint64_t job) {
    std::lock_guard lock(mutex_);
    return settled_.count(job) > 0;
  }
  std::string order() {
    std::lock_guard lock(mutex_);
    return order_;
  }
  int ended() {
    std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::vector<std::string>> settled_;
  std::string order_;
  int ended_ = 0;
};
