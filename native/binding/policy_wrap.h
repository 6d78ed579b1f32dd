// The native policy as JavaScript sees it: checks arguments, copies them into a job, and makes the result.
// All work is done by the policy's job thread; nothing here touches the engine.
#pragma once
#include <napi.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "binding/policy_class.h"

namespace skillgate {

class PolicyWrap : public Napi::ObjectWrap<PolicyWrap> {
 public:
  explicit PolicyWrap(const Napi::CallbackInfo& info);
  ~PolicyWrap() override;
  static Napi::Function define(Napi::Env env, PolicyClass* owner);

 private:
  using Result = std::function<Napi::Value(Napi::Env)>;

  Napi::Value info(const Napi::CallbackInfo& info);
  Napi::Value version(const Napi::CallbackInfo& info);
  Napi::Value disposed(const Napi::CallbackInfo& info);
  Napi::Value logprobs(const Napi::CallbackInfo& info);
  Napi::Value accumulate(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value zero_gradients(const Napi::CallbackInfo& info);
  Napi::Value open_session(const Napi::CallbackInfo& info);
  Napi::Value fork_session(const Napi::CallbackInfo& info);
  void close_session(const Napi::CallbackInfo& info);
  Napi::Value generate(const Napi::CallbackInfo& info);
  Napi::Value parameter(const Napi::CallbackInfo& info);
  Napi::Value gradient(const Napi::CallbackInfo& info);
  Napi::Value set_parameter(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value save_optimizer(const Napi::CallbackInfo& info);
  Napi::Value load_optimizer(const Napi::CallbackInfo& info);
  void abort(const Napi::CallbackInfo& info);
  void dispose(const Napi::CallbackInfo& info);

  void check_open(const char* what) const;       // Failure ERR_DISPOSED
  void check_trainable(const char* what) const;  // Failure ERR_NOT_TRAINABLE
  const ParameterInfo& find_parameter(const char* what, const std::string& name) const;
  Napi::Value read(const Napi::CallbackInfo& info, const char* what, bool gradient);

  JobPtr job(const char* what, Job::Kind kind, std::function<void(PolicyHost&, const JobPtr&)> run);
  // { id, promise }: abort(id) stops the job.
  Napi::Value submit(const Napi::CallbackInfo& info, const JobPtr& job, Result result,
                     std::function<void()> settled = nullptr);
  void submit_brief(std::function<void(PolicyHost&)> run);  // nobody waits for it

  uint64_t& open_handle(const char* what,
                        int64_t handle);  // the job that uses it; Failure ERR_UNKNOWN_SESSION
  Napi::Value add_session(Napi::Env env, std::function<void(Generation&, int64_t)> add);

  Environment* environment_ = nullptr;
  LoadedPolicy loaded_;
  bool disposed_ = false;
  std::unordered_map<int64_t, uint64_t> sessions_;  // open handles -> the job that uses it, or 0
};

}  // namespace skillgate
