#include "binding/policy_host.h"

namespace skillgate {

void PolicyHost::load(const std::string& dir, const PolicyOptions& options) {
  policy_ = Policy::load(dir, options);
  generation_ = std::make_unique<Generation>(*policy_);
}

PolicyLossResult PolicyHost::accumulate(const AccumulateArgs& args, const std::atomic<bool>* stop) {
  const bool before = partial_gradients_;
  partial_gradients_ = true;
  const PolicyLossResult result = policy_->accumulate(args, stop);
  partial_gradients_ = before;
  return result;
}

StepResult PolicyHost::step(const StepOptions& options) {
  if (partial_gradients_) {
    throw Failure(
        "ERR_PARTIAL_GRADIENTS",
        "step(): an accumulate() before it did not finish, so the gradients are those of part of a batch; "
        "call zeroGradients() and accumulate again");
  }
  const StepResult result = policy_->step(options);
  if (!result.skipped) generation_->forget();
  return result;
}

void PolicyHost::zero_gradients() {
  policy_->zero_gradients();
  partial_gradients_ = false;
}

void PolicyHost::write_parameter(const std::string& name, const float* values) {
  policy_->write_parameter(name, values);
  generation_->forget();
}

}  // namespace skillgate
