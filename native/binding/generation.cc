#include "binding/generation.h"

#include <utility>
#include <vector>

namespace skillgate {

void Generation::open(int64_t handle) {
  sessions_[handle].id = policy_.generator().open_session();
}

void Generation::fork(int64_t handle, int64_t from) {
  const auto parent = sessions_.find(from);
  if (parent == sessions_.end()) throw Failure("ERR_UNKNOWN_SESSION", "the session to fork was closed");
  sessions_[handle].id = policy_.generator().fork_session(parent->second.id);
}

void Generation::close(int64_t handle) {
  const auto found = sessions_.find(handle);
  if (found == sessions_.end()) return;
  if (found->second.in_use) {
    found->second.close_after = true;
    return;
  }
  policy_.generator().close_session(found->second.id);
  sessions_.erase(found);
}

void Generation::start(const JobPtr& job, int64_t session, GenerateRequest request,
                       std::shared_ptr<GenerateResult> out) {
  if (broken_) throw *broken_;
  request.id = job->id;
  if (session >= 0) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end())
      throw Failure("ERR_UNKNOWN_SESSION", "the session of the request was closed");
    request.session = found->second.id;
  }
  requests_[job->id] = {job, std::move(out), session};
  try {
    policy_.generator().submit(std::move(request));
  } catch (...) {
    requests_.erase(job->id);
    throw;
  }
  if (session >= 0) sessions_[session].in_use = true;
}

void Generation::advance(JobThread& thread) {
  try {
    Generator& generator = policy_.generator();
    for (auto& [id, request] : requests_) {
      if (request.job->stop && !request.abort_sent) {
        request.abort_sent = true;
        generator.abort(id);
      }
    }
    for (GenerateResult& result : generator.advance()) {
      const auto found = requests_.find(result.id);
      if (found == requests_.end()) continue;
      const uint64_t id = result.id;
      *found->second.out = std::move(result);
      end(id, thread, nullptr);
    }
  } catch (...) {
    fail_all(current_failure(), thread);
  }
}

void Generation::end(uint64_t id, JobThread& thread, const Failure* failure) {
  const auto found = requests_.find(id);
  const Request request = std::move(found->second);
  requests_.erase(found);
  thread.settle(request.job, failure);
  const auto session = sessions_.find(request.session);
  if (session == sessions_.end()) return;
  session->second.in_use = false;
  if (session->second.close_after) close(request.session);
}

void Generation::fail_all(const Failure& failure, JobThread& thread) {
  std::vector<uint64_t> ids;
  for (const auto& [id, request] : requests_) ids.push_back(id);
  try {
    Generator& generator = policy_.generator();
    for (const uint64_t id : ids) generator.abort(id);
    while (!generator.idle()) generator.advance();
    generator.forget();
  } catch (...) {
    broken_ = failure;
  }
  for (const uint64_t id : ids) end(id, thread, &failure);
}

}  // namespace skillgate
