// The export table. lib/addon/addon-types.ts is the same table, typed.
#include <napi.h>

#include <string>

#include "binding/build_info.h"
#include "binding/convert.h"
#include "binding/environment.h"
#include "binding/kernels_wrap.h"
#include "binding/policy_class.h"

namespace skillgate {

// One an environment: a worker thread has its own.
class SkillgateAddon : public Napi::Addon<SkillgateAddon> {
 public:
  SkillgateAddon(Napi::Env env, Napi::Object exports)
      : environment_(env), kernels_(environment_), policies_(env, environment_) {
    DefineAddon(exports, {InstanceValue("buildInfo", build_info(env), napi_enumerable),
                          InstanceMethod<&SkillgateAddon::describe_device>("describeDevice", napi_enumerable),
                          InstanceMethod<&SkillgateAddon::mask_tokens>("maskTokens", napi_enumerable),
                          InstanceMethod<&SkillgateAddon::policy_loss>("policyLoss", napi_enumerable),
                          InstanceMethod<&SkillgateAddon::load_policy>("loadPolicy", napi_enumerable),
                          InstanceMethod<&SkillgateAddon::stop_all>("stopAll", napi_enumerable)});
  }

 private:
  Napi::Value describe_device(const Napi::CallbackInfo& info) {
    return guard(info, [&] {
      const Fields fields("describeDevice", info[0]);
      const auto backend = open_backend(read_device(fields), read_backend_options(fields));
      return Napi::String::New(info.Env(), std::string(backend->name()) + ": " + backend->description());
    });
  }
  Napi::Value mask_tokens(const Napi::CallbackInfo& info) {
    return guard(info, [&] { return kernels_.mask_tokens(info); });
  }
  Napi::Value policy_loss(const Napi::CallbackInfo& info) {
    return guard(info, [&] { return kernels_.policy_loss(info); });
  }
  Napi::Value load_policy(const Napi::CallbackInfo& info) {
    return guard(info, [&] { return policies_.load(info); });
  }
  void stop_all(const Napi::CallbackInfo&) { environment_.stop_all(); }

  Environment environment_;
  KernelsWrap kernels_;
  PolicyClass policies_;
};

NODE_API_NAMED_ADDON(skillgate, SkillgateAddon)

}  // namespace skillgate
