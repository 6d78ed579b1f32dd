#include "allocation_count.h"
#include "backend/status.h"
#include "check.h"
#include "model/tiny_model.h"
#include "train/policy_batch.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

std::unique_ptr<Policy> open_within(const ScratchFolder& folder, int64_t limit, bool recompute = false) {
  PolicyOptions o;
  o.backend.threads = 1;
  o.memory_limit = limit;
  o.recompute = recompute;
  return Policy::load(folder.path(), o);
}

// What the call's error says; "" where there was none.
template <class Call>
std::string failure_of(const Call& call) {
  try {
    call();
  } catch (const Failure& e) {
    return std::string(e.code()) + ": " + e.what();
  }
  return "";
}

}  // namespace

TEST(an_update_that_cannot_fit_is_refused_before_it_starts) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  const Batch b = random_batch(9);
  auto policy = open_within(folder, 1 << 20);
  policy->generator();
  const int64_t before = policy->resident_bytes();
  const std::string said = failure_of([&] { accumulate(*policy, b); });
  EXPECT(said.find("ERR_OUT_OF_MEMORY: a pass over ") == 0);
  for (const char* part :
       {" MiB more (activations ", "gradients and optimizer ", "microBatchTokens", "memoryLimit is 1 MiB"})
    EXPECT(said.find(part) != std::string::npos);
  EXPECT_EQ(policy->resident_bytes(), before);
  // A smaller one still fits, and nothing is left of the refused one.
  auto free = open(folder);
  Batch one;
  one.add({b.tokens.begin(), b.tokens.begin() + 3});
  EXPECT(logprobs(*policy, one) == logprobs(*free, one));
}

TEST(activations_are_recomputed_where_they_do_not_fit) {
  ScratchFolder folder;
  TinyModel model;
  model.L = 6;
  model.write(folder.path());
  const Batch b = random_batch(9);
  auto keep = open_within(folder, 0), again = open_within(folder, 0, true);
  accumulate(*keep, b);
  accumulate(*again, b);
  const int64_t most = keep->resident_bytes(), least = again->resident_bytes();
  EXPECT(least < most);
  // Moments come with the first step; they are counted before it.
  int64_t block = 0;
  for (const ParameterInfo& p : keep->parameters()) {
    int64_t n = 4;
    for (int64_t d : p.shape) n *= d;
    block += (n + 63) / 64 * 64;
  }
  const int64_t loss = int64_t{2} << 20;  // of a tiny vocabulary's chunk of rows
  for (const int64_t limit : {most + 2 * block + loss, least + 2 * block + loss}) {
    auto policy = open_within(folder, limit);
    accumulate(*policy, b);
    EXPECT_EQ(policy->resident_bytes(), limit == most + 2 * block + loss ? most : least);
    EXPECT(read_all(*policy, true) == read_all(*keep, true));
    policy->step({});
    EXPECT(policy->resident_bytes() <= limit);
  }
  auto tight = open_within(folder, least + block);
  EXPECT_FAILURE("ERR_OUT_OF_MEMORY", accumulate(*tight, b));
}

TEST(a_steady_step_allocates_nothing) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  for (const int threads : {1, 2}) {
    auto policy = open(folder, threads);
    const Batch b = random_batch(9);
    Accumulated a;
    int64_t resident = 0;
    for (int step = 0; step < 4; step++) {
      const int64_t before = check::allocations().count;
      accumulate(*policy, b, a);
      policy->step({});
      if (step >= 2) {
        EXPECT_EQ(check::allocations().count, before);
        EXPECT_EQ(policy->resident_bytes(), resident);
      }
      resident = policy->resident_bytes();
    }
  }
}
