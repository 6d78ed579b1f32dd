// The kernels without a model: kernels.maskTokens and kernels.policyLoss. Each opens its backend when first
// used.
#pragma once
#include <napi.h>

#include <memory>

#include "backend/backend.h"
#include "binding/convert.h"
#include "binding/environment.h"

namespace skillgate {

class KernelsWrap {
 public:
  explicit KernelsWrap(Environment& environment) : environment_(environment) {}

  Napi::Value mask_tokens(const Napi::CallbackInfo& info);
  Napi::Value policy_loss(const Napi::CallbackInfo& info);

 private:
  Environment& environment_;
  std::unique_ptr<Backend>
      mask_backend_;  // used on the JavaScript thread: the work is a few passes over the tokens
  std::shared_ptr<JobThread> thread_;
  class LatestBackend* latest_ = nullptr;  // the thread's host
};

// device ("cpu" or "cuda") of an argument object, and how it is to be opened.
std::string read_device(const Fields& fields);
BackendOptions read_backend_options(const Fields& fields);

}  // namespace skillgate
