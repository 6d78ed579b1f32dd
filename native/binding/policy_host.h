// A policy and its generation, on the policy's job thread.
#pragma once
#include <memory>

#include "binding/generation.h"
#include "train/policy.h"

namespace skillgate {

class PolicyHost : public Host {
 public:
  void load(const std::string& dir, const PolicyOptions& options);
  Policy& policy() { return *policy_; }
  Generation& generation() { return *generation_; }

  PolicyLossResult accumulate(const AccumulateArgs& args, const std::atomic<bool>* stop);
  StepResult step(
      const StepOptions& options);  // Failure ERR_PARTIAL_GRADIENTS after an accumulate that did not finish
  void zero_gradients();
  void write_parameter(const std::string& name, const float* values);

  bool idle() const override { return !generation_ || generation_->idle(); }
  void advance(JobThread& thread) override { generation_->advance(thread); }
  int64_t resident_bytes() const override { return policy_ ? policy_->resident_bytes() : 0; }

 private:
  std::unique_ptr<Policy> policy_;
  std::unique_ptr<Generation> generation_;
  bool partial_gradients_ = false;  // an accumulate stopped half way
};

}  // namespace skillgate
