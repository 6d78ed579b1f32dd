#include "binding/policy_class.h"

#include <utility>

#include "binding/convert.h"
#include "binding/policy_arguments.h"
#include "binding/policy_wrap.h"

namespace skillgate {

PolicyClass::PolicyClass(Napi::Env env, Environment& environment)
    : environment_(environment), constructor_(Napi::Persistent(PolicyWrap::define(env, this))) {}

Napi::Value PolicyClass::load(const Napi::CallbackInfo& info) {
  const std::string dir = text_argument("loadPolicy", "dir", info[0]);
  const PolicyOptions options = read_policy_options(Fields("loadPolicy", info[1]));
  auto owned = std::make_unique<PolicyHost>();
  PolicyHost* const host = owned.get();
  const auto thread = environment_.start_thread(std::move(owned), "policy");
  const auto loaded = std::make_shared<PolicyInfo>();

  auto job = std::make_shared<Job>();
  job->id = environment_.next_id();
  job->what = "loadPolicy()";
  job->run = [loaded, host, dir, options](const JobPtr&) {
    host->load(dir, options);
    const Policy& policy = host->policy();
    loaded->device = options.device;
    loaded->description = policy.device_description();
    loaded->vocabulary = policy.config().V;
    loaded->max_context = policy.config().max_positions;
    loaded->steps = policy.optimizer_steps();
    loaded->trainable = options.trainable;
    loaded->parameters = policy.parameters();
  };
  Pending pending;
  pending.settled = [thread](const Failure* failure) {
    if (failure != nullptr) thread->close();
  };
  pending.result = [this, thread, host, loaded](Napi::Env) -> Napi::Value {
    LoadedPolicy adopting{thread, host, std::move(*loaded)};
    adopting_ = &adopting;
    try {
      const Napi::Object policy = constructor_.New({});
      adopting_ = nullptr;
      return policy;
    } catch (...) {
      adopting_ = nullptr;
      thread->close();
      throw;
    }
  };
  return environment_.submit(*thread, std::move(job), std::move(pending));
}

}  // namespace skillgate
