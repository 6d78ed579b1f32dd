#include "binding/job_thread.h"

#include <algorithm>
#include <new>
#include <vector>

namespace skillgate {

Failure current_failure() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure;
  } catch (const std::bad_alloc&) {
    return Failure("ERR_OUT_OF_MEMORY", "the system has no memory left for this");
  } catch (const std::exception& error) {
    return Failure("ERR_NATIVE", error.what());
  } catch (...) {
    return Failure("ERR_NATIVE", "an exception of unknown type");
  }
}

JobThread::JobThread(Outbox& outbox, std::unique_ptr<Host> host, std::string owner)
    : outbox_(outbox), owner_(std::move(owner)), host_(std::move(host)), thread_([this] { loop(); }) {}

JobThread::~JobThread() {
  close();
  join();
}

bool JobThread::submit(JobPtr job) {
  {
    std::lock_guard lock(mutex_);
    if (closing_) return false;
    if (job->id != 0) live_.emplace(job->id, job);
    queue_.push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

void JobThread::abort(uint64_t id) {
  JobPtr queued;
  {
    std::lock_guard lock(mutex_);
    const auto found = live_.find(id);
    if (found == live_.end()) return;
    const JobPtr job = found->second;
    job->stop = true;
    const auto place = std::find(queue_.begin(), queue_.end(), job);
    if (place != queue_.end()) {
      queue_.erase(place);
      queued = job;
    }
  }
  wake_.notify_one();
  if (!queued) return;
  const Failure failure = aborted(*queued);
  settle(queued, queued->kind == Job::Kind::generation ? nullptr : &failure);
}

void JobThread::close() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    for (auto& [id, job] : live_) job->stop = true;
  }
  wake_.notify_one();
}

void JobThread::join() {
  if (thread_.joinable()) thread_.join();
}

void JobThread::settle(const JobPtr& job, const Failure* failure) {
  if (job->id == 0) return;
  {
    std::lock_guard lock(mutex_);
    if (live_.erase(job->id) == 0) return;
  }
  Completion done;
  done.thread = this;
  done.job = job->id;
  if (failure != nullptr) done.failure = *failure;
  done.resident_bytes = resident_bytes_;
  outbox_.post(std::move(done));
}

JobPtr JobThread::next() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return closing_ || !queue_.empty() || !host_->idle(); });
  if (closing_ || queue_.empty()) return nullptr;
  if (queue_.front()->kind == Job::Kind::exclusive && !host_->idle()) return nullptr;
  JobPtr job = std::move(queue_.front());
  queue_.pop_front();
  return job;
}

void JobThread::run(const JobPtr& job) {
  try {
    job->run(job);
    resident_bytes_ = host_->resident_bytes();
    if (job->kind != Job::Kind::generation) settle(job, nullptr);
  } catch (...) {
    Failure failure = current_failure();
    resident_bytes_ = host_->resident_bytes();
    if (failure.code() == "ERR_ABORTED") failure = closing_ ? closed(*job) : aborted(*job);
    settle(job, &failure);
  }
}

void JobThread::loop() {
  while (!closing_) {
    const JobPtr job = next();
    if (job) {
      run(job);
      if (job->kind <= Job::Kind::generation) continue;
    }
    if (closing_ || host_->idle()) continue;
    host_->advance(*this);
    resident_bytes_ = host_->resident_bytes();
  }
  std::vector<JobPtr> left;
  {
    std::lock_guard lock(mutex_);
    queue_.clear();
    for (auto& [id, job] : live_) left.push_back(job);
  }
  std::sort(left.begin(), left.end(), [](const JobPtr& a, const JobPtr& b) { return a->id < b->id; });
  for (const JobPtr& job : left) {
    const Failure failure = closed(*job);
    settle(job, &failure);
  }
  left.clear();
  host_.reset();
  Completion end;
  end.kind = Completion::Kind::ended;
  end.thread = this;
  outbox_.post(std::move(end));
}

Failure JobThread::closed(const Job& job) const {
  return Failure("ERR_DISPOSED", "the " + owner_ + " was disposed before " + job.what + " was done");
}

Failure JobThread::aborted(const Job& job) const {
  return Failure("ERR_ABORTED", job.what + " was aborted");
}

}  // namespace skillgate
