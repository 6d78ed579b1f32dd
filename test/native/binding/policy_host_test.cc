#include "binding/policy_host.h"

#include <vector>

#include "binding/job_thread.h"
#include "binding/recording_outbox.h"
#include "check.h"

using namespace skillgate;

namespace {

const std::string kModel = std::string(SKILLGATE_TEST_ROOT) + "/fixtures/golden/models/qwen3";

// A policy on a job thread, as the addon keeps it.
struct Fixture {
  RecordingOutbox outbox;
  PolicyHost* host = nullptr;
  uint64_t last = 0;
  JobThread thread;

  Fixture() : thread(outbox, make(), "policy") {
    run(Job::Kind::normal, [](PolicyHost& h, const JobPtr&) {
      PolicyOptions options;
      options.backend.threads = 2;
      h.load(kModel, options);
    });
    outbox.wait(last);
  }
  std::unique_ptr<Host> make() {
    auto made = std::make_unique<PolicyHost>();
    host = made.get();
    return made;
  }
  uint64_t run(Job::Kind kind, std::function<void(PolicyHost&, const JobPtr&)> body) {
    auto job = std::make_shared<Job>();
    job->id = ++last;
    job->what = "job()";
    job->kind = kind;
    job->run = [this, body = std::move(body)](const JobPtr& self) { body(*host, self); };
    thread.submit(job);
    return job->id;
  }
  uint64_t generate(int64_t session, int64_t max_tokens, std::shared_ptr<GenerateResult> out) {
    GenerateRequest request;
    request.tokens = {3, 5, 7, 11};
    request.max_tokens = max_tokens;
    return run(Job::Kind::generation, [request, session, out](PolicyHost& h, const JobPtr& self) {
      h.generation().start(self, session, request, out);
    });
  }
};

}  // namespace

TEST(policy_host_generates_in_sessions_while_others_abort_and_close) {
  Fixture f;
  for (int64_t handle = 1; handle <= 4; handle++) {
    f.run(Job::Kind::brief, [handle](PolicyHost& h, const JobPtr&) { h.generation().open(handle); });
  }
  std::vector<std::shared_ptr<GenerateResult>> out;
  std::vector<uint64_t> ids;
  for (int64_t handle = 1; handle <= 4; handle++) {
    out.push_back(std::make_shared<GenerateResult>());
    ids.push_back(f.generate(handle, 60, out.back()));
  }
  f.thread.abort(ids[1]);
  f.run(Job::Kind::brief, [](PolicyHost& h, const JobPtr&) { h.generation().close(3); });
  for (const uint64_t id : ids) EXPECT_EQ(f.outbox.wait(id), "done");
  EXPECT_EQ(out[0]->tokens.size(), size_t{60});
  EXPECT(out[3]->tokens == out[0]->tokens);
  EXPECT(out[3]->logprobs == out[0]->logprobs);
  // The third session was closed when its request ended; the first may be forked.
  EXPECT_EQ(f.outbox.wait(f.generate(3, 1, std::make_shared<GenerateResult>())), "ERR_UNKNOWN_SESSION");
  f.run(Job::Kind::brief, [](PolicyHost& h, const JobPtr&) { h.generation().fork(9, 1); });
  const auto forked = std::make_shared<GenerateResult>();
  EXPECT_EQ(f.outbox.wait(f.generate(9, 60, forked)), "done");
  EXPECT(forked->tokens == out[0]->tokens);
}

TEST(policy_host_step_waits_for_generation_and_is_refused_after_half_an_accumulate) {
  Fixture f;
  const auto before = std::make_shared<GenerateResult>(), after = std::make_shared<GenerateResult>();
  f.generate(-1, 40, before);
  const std::vector<int32_t> tokens(30, 7), offsets{0, 30};
  std::vector<float> weight(30, 0.1f), logprob(30);
  std::vector<uint8_t> clipped(30);
  weight[0] = 0;
  const auto accumulate = [&](PolicyHost& h, const std::atomic<bool>* stop) {
    AccumulateArgs args;
    args.sequences = {tokens.data(), 30, offsets.data(), 1};
    args.advantage = args.weight = weight.data();
    args.logprob = logprob.data();
    args.clipped = clipped.data();
    h.accumulate(args, stop);
  };
  const std::atomic<bool> stop{true};
  const uint64_t half = f.run(Job::Kind::normal, [&](PolicyHost& h, const JobPtr&) { accumulate(h, &stop); });
  const auto step = [&](PolicyHost& h, const JobPtr&) { h.step({}); };
  EXPECT_EQ(f.outbox.wait(half), "ERR_ABORTED");
  EXPECT_EQ(f.outbox.wait(f.run(Job::Kind::exclusive, step)), "ERR_PARTIAL_GRADIENTS");
  EXPECT_EQ(before->tokens.size(), size_t{40});
  f.run(Job::Kind::normal, [&](PolicyHost& h, const JobPtr&) {
    h.zero_gradients();
    accumulate(h, nullptr);
  });
  EXPECT_EQ(f.outbox.wait(f.run(Job::Kind::exclusive, step)), "done");
  EXPECT_EQ(f.outbox.wait(f.generate(-1, 40, after)), "done");
  EXPECT(after->logprobs != before->logprobs);
}

TEST(policy_host_closed_in_the_midst_of_generation) {
  Fixture f;
  std::vector<uint64_t> ids;
  for (int i = 0; i < 10; i++) ids.push_back(f.generate(-1, 500, std::make_shared<GenerateResult>()));
  f.thread.close();
  f.thread.join();
  for (const uint64_t id : ids) EXPECT_EQ(f.outbox.wait(id), "ERR_DISPOSED");
}
