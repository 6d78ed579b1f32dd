#include "binding/environment.h"

#include <utility>

#include "binding/convert.h"

namespace skillgate {

Environment::Environment(Napi::Env env) : env_(env) {
  const Napi::Function wake = Napi::Function::New(env, [this](const Napi::CallbackInfo&) { drain(); });
  wake_ = Napi::ThreadSafeFunction::New(env, wake, "skillgate", 0, 1);
  wake_.Unref(env);
  // Hooks run last in, first out: the threads are gone before the function they call is.
  env.AddCleanupHook([this] {
    stop_all();
    wake_.Release();
  });
}

Environment::~Environment() {
  stop_all();
}

std::shared_ptr<JobThread> Environment::start_thread(std::unique_ptr<Host> host, const std::string& owner) {
  auto thread = std::make_shared<JobThread>(*this, std::move(host), owner);
  threads_[thread.get()].thread = thread;
  return thread;
}

Napi::Promise Environment::submit(JobThread& thread, JobPtr job, Pending pending) {
  const uint64_t id = job->id;
  const std::string what = job->what;
  auto deferred = Napi::Promise::Deferred::New(env_);
  const Napi::Promise promise = deferred.Promise();
  if (promised_.empty()) wake_.Ref(env_);
  promised_.emplace(id, Promised{deferred, std::move(pending)});
  if (!thread.submit(std::move(job))) {
    promised_.erase(id);
    if (promised_.empty()) wake_.Unref(env_);
    throw Failure("ERR_DISPOSED",
                  what + ": the thread for it was stopped, as the process is exiting or the policy disposed");
  }
  return promise;
}

void Environment::stop_all() {
  for (auto& [key, owned] : threads_) owned.thread->close();
  for (auto& [key, owned] : threads_) owned.thread->join();
}

void Environment::post(Completion completion) {
  {
    std::lock_guard lock(mutex_);
    completions_.push_back(std::move(completion));
  }
  wake_.NonBlockingCall();
}

void Environment::drain() {
  std::vector<Completion> completions;
  {
    std::lock_guard lock(mutex_);
    completions.swap(completions_);
  }
  for (const Completion& completion : completions) {
    if (completion.kind == Completion::Kind::settled) {
      settle(completion);
      continue;
    }
    account(completion.thread, 0);
    const auto found = threads_.find(completion.thread);
    if (found == threads_.end()) continue;
    found->second.thread->join();
    threads_.erase(found);
  }
}

void Environment::settle(const Completion& completion) {
  account(completion.thread, completion.resident_bytes);
  const auto found = promised_.find(completion.job);
  if (found == promised_.end()) return;
  const Promised promised = std::move(found->second);
  promised_.erase(found);
  if (promised_.empty()) wake_.Unref(env_);
  if (promised.pending.settled) promised.pending.settled(completion.failure ? &*completion.failure : nullptr);
  if (completion.failure) {
    promised.deferred.Reject(to_error(env_, *completion.failure).Value());
    return;
  }
  try {
    promised.deferred.Resolve(promised.pending.result(env_));
  } catch (const Napi::Error& error) {
    promised.deferred.Reject(error.Value());
  } catch (...) {
    promised.deferred.Reject(to_error(env_, current_failure()).Value());
  }
}

void Environment::account(JobThread* thread, int64_t bytes) {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return;
  Napi::MemoryManagement::AdjustExternalMemory(env_, bytes - found->second.accounted_bytes);
  found->second.accounted_bytes = bytes;
}

}  // namespace skillgate
