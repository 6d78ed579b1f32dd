// What a policy on the device does when memory runs out, and when a kernel breaks.
#include <atomic>

#include "backend/status.h"
#include "check.h"
#include "device_fixture.h"
#include "train/policy.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

std::unique_ptr<Policy> load(const char* precision = "fp32") {
  PolicyOptions o;
  o.device = "cuda";
  o.backend.precision = precision;
  return Policy::load(std::string(SKILLGATE_TEST_ROOT) + "/fixtures/golden/models/qwen3", o);
}

struct Batch {
  std::vector<int32_t> tokens, offsets;
  std::vector<float> advantage, weight, logprob;
  std::vector<uint8_t> clipped;

  Batch(int64_t sequences, int64_t length) : offsets{0} {
    for (int64_t s = 0; s < sequences; s++) {
      for (int64_t t = 0; t < length; t++) {
        tokens.push_back(static_cast<int32_t>((s * 7 + t * 3) % 50));
        weight.push_back(t == 0 ? 0.f : 0.1f);
      }
      offsets.push_back(static_cast<int32_t>(tokens.size()));
    }
    advantage.assign(tokens.size(), 1.f);
    logprob.assign(tokens.size(), 0.f);
    clipped.assign(tokens.size(), 0);
  }

  // "" or the code and text of the failure.
  std::string accumulate(Policy& policy, const std::atomic<bool>* stop = nullptr) {
    AccumulateArgs a;
    a.sequences = {tokens.data(), static_cast<int64_t>(tokens.size()), offsets.data(),
                   static_cast<int64_t>(offsets.size()) - 1};
    a.advantage = advantage.data();
    a.weight = weight.data();
    a.logprob = logprob.data();
    a.clipped = clipped.data();
    try {
      policy.accumulate(a, stop);
    } catch (const Failure& e) {
      return e.code() + ": " + e.what();
    }
    return "";
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(a_policy_that_lacks_memory_says_so_and_goes_on) {
  SettingsGuard guard;
  const auto policy = load();
  Batch small(2, 6), large(64, 60);
  EXPECT_EQ(small.accumulate(*policy), std::string());
  const std::vector<float> before = small.logprob;
  emulation::settings().memory_bytes = emulation::counters().allocated_bytes + (size_t{1} << 20);
  const std::string text = large.accumulate(*policy);
  EXPECT(has(text, "ERR_OUT_OF_MEMORY: "));
  EXPECT(has(text, "MiB"));
  EXPECT_EQ(small.accumulate(*policy), std::string());
  EXPECT(small.logprob == before);
  EXPECT(!policy->step({}).skipped);
  expect_no_faults();
}

// What the loss says it needs, a first call takes, but for packing and for the alignment of pieces; then it needs no more.
TEST(the_loss_takes_the_memory_it_says) {
  for_each_precision([](Backend& backend, const std::string&) {
    const int64_t R = 400, D = 8, V = 8176;
    const DeviceArray hidden(backend, std::vector<float>(R * D, 0.5f)),
        head(backend, std::vector<float>(V * D, 0.1f));
    const DeviceArray d_hidden(backend, R * D), d_head(backend, std::vector<float>(V * D, 0.f));
    const std::vector<int32_t> target(R, 7);
    const std::vector<float> ones(R, 1.f);
    std::vector<float> logprob(R);
    PolicyLossArgs a;
    a.hidden = hidden.tensor({R, D});
    a.lm_head = head.tensor({V, D});
    a.d_hidden = d_hidden.tensor({R, D});
    a.d_lm_head = d_head.tensor({V, D});
    a.target = target.data();
    a.advantage = a.weight = ones.data();
    a.logprob = logprob.data();
    const int64_t said = backend.policy_loss_bytes(R, D, V);
    emulation::Counters& counters = emulation::counters();
    counters.peak_bytes = counters.allocated_bytes;
    const size_t before = counters.allocated_bytes;
    backend.policy_loss(a);
    const auto took = static_cast<int64_t>(counters.peak_bytes - before);
    EXPECT(took >= said && took < said + (3 << 20));
    EXPECT_EQ(backend.policy_loss_bytes(R, D, V), int64_t{0});
  });
}

// A pass waits once, when all of it has been queued, and so does the optimizer step.
TEST(a_step_makes_the_host_wait_at_its_end_alone) {
  for (const char* precision : {"fp32", "bf16"}) {
    const auto policy = load(precision);
    Batch batch(3, 60);
    for (int round = 0; round < 3; round++) {
      emulation::Counters& counters = emulation::counters();
      uint64_t before = counters.synchronizations;
      EXPECT_EQ(batch.accumulate(*policy), std::string());
      const uint64_t of_the_pass = counters.synchronizations - before, launched = counters.launches;
      before = counters.synchronizations;
      EXPECT(!policy->step({}).skipped);
      EXPECT(counters.launches > launched);
      if (round == 0) continue;  // memory grows, weights are packed
      EXPECT_EQ(of_the_pass, uint64_t{1});
      EXPECT_EQ(counters.synchronizations - before, uint64_t{1});
    }
    expect_no_faults();
  }
}

TEST(a_pass_that_is_stopped_leaves_nothing_behind) {
  const auto policy = load();
  Batch batch(3, 60), other(2, 40);
  EXPECT_EQ(batch.accumulate(*policy), std::string());
  policy->zero_gradients();
  std::atomic<bool> stop = true;
  EXPECT(has(other.accumulate(*policy, &stop), "ERR_"));
  policy->zero_gradients();
  const std::vector<float> before = batch.logprob;
  EXPECT_EQ(batch.accumulate(*policy), std::string());
  EXPECT(batch.logprob == before);
  expect_no_faults();
}

TEST(a_kernel_that_breaks_ends_the_policy_and_is_named_once) {
  SettingsGuard guard;
  {
    const auto policy = load();
    Batch batch(2, 6);
    emulation::settings().kernel_to_fail = "rmsnorm_forward";
    const std::string first = batch.accumulate(*policy);
    EXPECT(has(first, "ERR_CUDA: "));
    EXPECT(has(first, "rmsnorm_forward"));
    emulation::settings().kernel_to_fail = "";
    EXPECT(has(batch.accumulate(*policy), "ERR_DEVICE_LOST: "));
  }
  emulation::take_faults();  // the device is well again
  const auto policy = load();
  EXPECT_EQ(Batch(2, 6).accumulate(*policy), std::string());
  expect_no_faults();
}
