// Loading: a thread of its own for each policy, and the JavaScript object that stands for it.
#pragma once
#include <napi.h>

#include <memory>
#include <string>
#include <vector>

#include "binding/environment.h"
#include "binding/policy_host.h"

namespace skillgate {

// What is fixed once a policy is loaded.
struct PolicyInfo {
  std::string device, description;  // "cpu", "avx512, 2 threads"
  int64_t vocabulary = 0, max_context = 0, steps = 0;
  bool trainable = true;
  std::vector<ParameterInfo> parameters;
};

struct LoadedPolicy {
  std::shared_ptr<JobThread> thread;
  PolicyHost* host = nullptr;  // lives on the thread
  PolicyInfo info;
};

// The class of one environment. Its objects are made by load() alone.
class PolicyClass {
 public:
  PolicyClass(Napi::Env env, Environment& environment);
  Napi::Value load(const Napi::CallbackInfo& info);  // loadPolicy(dir, options)

 private:
  friend class PolicyWrap;
  Environment& environment_;
  Napi::FunctionReference constructor_;
  LoadedPolicy* adopting_ = nullptr;  // set while load() constructs an object
};

}  // namespace skillgate
