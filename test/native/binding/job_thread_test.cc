#include "binding/job_thread.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "binding/recording_outbox.h"
#include "check.h"

using namespace skillgate;

namespace {

// A gate that a job waits at until the test opens it or the job is stopped.
struct Gate {
  std::atomic<bool> open{false}, reached{false};
  void pass(const std::atomic<bool>& stop) {
    reached = true;
    while (!open) {
      if (stop) throw Failure("ERR_ABORTED", "stopped");
      std::this_thread::yield();
    }
  }
  void wait() const {
    while (!reached) std::this_thread::yield();
  }
};

// Generation that takes `steps` steps a request.
class FakeHost : public Host {
 public:
  explicit FakeHost(std::atomic<int>* alive) : alive_(alive) { ++*alive_; }
  ~FakeHost() override { --*alive_; }
  bool idle() const override { return requests_.empty(); }
  void advance(JobThread& thread) override {
    for (auto& [job, steps] : requests_) steps = job->stop ? 0 : steps - 1;
    for (size_t i = 0; i < requests_.size();) {
      if (requests_[i].second > 0) {
        i++;
        continue;
      }
      const JobPtr job = requests_[i].first;
      requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(i));
      thread.settle(job, nullptr);
    }
  }
  int64_t resident_bytes() const override { return 1000; }
  void start(const JobPtr& job, int steps) { requests_.push_back({job, steps}); }

 private:
  std::atomic<int>* alive_;
  std::vector<std::pair<JobPtr, int>> requests_;
};

struct Fixture {
  std::atomic<int> alive{0};
  RecordingOutbox outbox;
  FakeHost* host;
  JobThread thread;
  explicit Fixture(std::unique_ptr<FakeHost> h = nullptr)
      : host(nullptr), thread(outbox, h ? std::move(h) : make(), "policy") {}
  std::unique_ptr<FakeHost> make() {
    auto made = std::make_unique<FakeHost>(&alive);
    host = made.get();
    return made;
  }

  bool submit(uint64_t id, Job::Kind kind, std::function<void(const JobPtr&)> run) {
    auto job = std::make_shared<Job>();
    job->id = id;
    job->what = "job()";
    job->kind = kind;
    job->run = std::move(run);
    return thread.submit(job);
  }
  bool generate(uint64_t id, int steps) {
    return submit(id, Job::Kind::generation, [this, steps](const JobPtr& job) { host->start(job, steps); });
  }
};

constexpr auto kNormal = Job::Kind::normal;
void nothing(const JobPtr&) {}

}  // namespace

TEST(job_thread_keeps_the_order) {
  Fixture f;
  Gate gate;
  f.submit(1, kNormal, [&](const JobPtr& job) { gate.pass(job->stop); });
  for (uint64_t id = 2; id < 20; id++) f.submit(id, kNormal, nothing);
  gate.open = true;
  f.outbox.wait(19);
  EXPECT_EQ(f.outbox.order(), "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ");
}

TEST(job_thread_failures_have_codes) {
  Fixture f;
  f.submit(1, kNormal, [](const JobPtr&) { throw Failure("ERR_SHAPE", "no"); });
  f.submit(2, kNormal, [](const JobPtr&) { throw std::bad_alloc(); });
  f.submit(3, kNormal, [](const JobPtr&) { throw std::runtime_error("odd"); });
  f.submit(4, kNormal, [](const JobPtr&) { throw 5; });
  f.submit(5, kNormal, nothing);
  EXPECT_EQ(f.outbox.wait(1), "ERR_SHAPE");
  EXPECT_EQ(f.outbox.wait(2), "ERR_OUT_OF_MEMORY");
  EXPECT_EQ(f.outbox.wait(3), "ERR_NATIVE");
  EXPECT_EQ(f.outbox.wait(4), "ERR_NATIVE");
  EXPECT_EQ(f.outbox.wait(5), "done");
}

TEST(job_thread_exclusive_jobs_wait_for_generation_and_later_jobs_for_them) {
  Fixture f;
  Gate gate;
  std::atomic<bool> idle{false};
  f.submit(1, kNormal, [&](const JobPtr& job) { gate.pass(job->stop); });
  f.generate(2, 3);
  f.generate(3, 6);
  f.submit(4, kNormal, nothing);
  f.submit(5, Job::Kind::exclusive, [&](const JobPtr&) { idle = f.host->idle(); });
  f.generate(6, 1);
  f.submit(7, kNormal, nothing);
  gate.open = true;
  f.outbox.wait(7);
  f.outbox.wait(6);
  EXPECT(idle);
  EXPECT_EQ(f.outbox.order().substr(0, 10), "1 4 2 3 5 ");
}

TEST(job_thread_normal_jobs_run_between_steps_of_generation) {
  Fixture f;
  f.generate(1, 1 << 30);
  for (uint64_t id = 2; id < 10; id++) f.submit(id, kNormal, nothing);
  EXPECT_EQ(f.outbox.wait(9), "done");
  EXPECT(!f.outbox.settled(1));
  f.thread.abort(1);
  EXPECT_EQ(f.outbox.wait(1), "done");
}

TEST(job_thread_abort) {
  Fixture f;
  Gate gate;
  f.submit(1, kNormal, [&](const JobPtr& job) { gate.pass(job->stop); });
  gate.wait();
  f.submit(2, kNormal, nothing);
  f.generate(3, 5);
  f.submit(4, kNormal, nothing);
  // Queued jobs end at once, though another runs.
  f.thread.abort(2);
  f.thread.abort(3);
  f.thread.abort(99);
  EXPECT_EQ(f.outbox.wait(2), "ERR_ABORTED");
  EXPECT_EQ(f.outbox.wait(3), "done");
  EXPECT(!f.outbox.settled(1));
  f.thread.abort(1);
  EXPECT_EQ(f.outbox.wait(1), "ERR_ABORTED");
  EXPECT_EQ(f.outbox.wait(4), "done");
  f.thread.abort(4);
  EXPECT_EQ(f.outbox.wait(4), "done");
}

TEST(job_thread_close_settles_everything_and_frees_the_host) {
  Fixture f;
  Gate gate;
  f.generate(1, 1 << 30);
  f.submit(2, kNormal, [&](const JobPtr& job) { gate.pass(job->stop); });
  gate.wait();
  f.submit(3, kNormal, nothing);
  f.generate(4, 1);
  EXPECT_EQ(f.alive.load(), 1);
  f.thread.close();
  f.thread.close();
  f.thread.join();
  for (uint64_t id = 1; id <= 4; id++) EXPECT_EQ(f.outbox.wait(id), "ERR_DISPOSED");
  EXPECT_EQ(f.alive.load(), 0);
  EXPECT_EQ(f.outbox.ended(), 1);
  EXPECT(!f.submit(5, kNormal, nothing));
  f.thread.abort(1);
  f.thread.join();
}

TEST(job_thread_job_that_does_not_stop_ends_before_the_thread_does) {
  Fixture f;
  Gate gate;
  const std::atomic<bool> never{false};
  f.submit(1, kNormal, [&](const JobPtr&) { gate.pass(never); });
  gate.wait();
  f.thread.close();
  gate.open = true;
  f.thread.join();
  EXPECT_EQ(f.outbox.wait(1), "done");
}

TEST(job_thread_survives_submit_abort_and_close_from_all_sides) {
  for (int round = 0; round < 20; round++) {
    Fixture f;
    constexpr uint64_t kEach = 60;
    std::vector<std::thread> callers;
    std::vector<std::atomic<bool>> accepted(4 * kEach);
    for (uint64_t caller = 0; caller < 3; caller++) {
      callers.emplace_back([&, caller] {
        for (uint64_t i = 0; i < kEach; i++) {
          const uint64_t id = caller * kEach + i + 1;
          const bool taken = i % 3 == 0   ? f.generate(id, static_cast<int>(i % 7) + 1)
                             : i % 3 == 1 ? f.submit(id, kNormal, nothing)
                                          : f.submit(id, Job::Kind::exclusive, nothing);
          accepted[id - 1] = taken;
          f.thread.abort(id / 2);
        }
      });
    }
    callers.emplace_back([&] {
      for (int i = 0; i < round * 10; i++) std::this_thread::yield();
      f.thread.close();
    });
    for (std::thread& caller : callers) caller.join();
    f.thread.join();
    for (uint64_t id = 1; id <= 3 * kEach; id++) {
      if (!accepted[id - 1]) continue;
      const std::string code = f.outbox.wait(id);
      EXPECT(code == "done" || code == "ERR_ABORTED" || code == "ERR_DISPOSED");
    }
    EXPECT_EQ(f.outbox.ended(), 1);
  }
}
