#include "cpu/thread_pool.h"

#include <atomic>
#include <vector>

#include "check.h"

namespace skillgate::test {

TEST(every_task_runs_once) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int round = 0; round < 200; ++round) {
      const int64_t tasks = round % 23;
      const int used = 1 + round % threads;
      std::vector<std::atomic<int>> count(static_cast<size_t>(tasks));
      std::atomic<bool> in_range{true};
      pool.run(tasks, used, [&](int64_t task, int thread) {
        ++count[task];
        if (thread < 0 || thread >= used) in_range = false;
      });
      for (auto& c : count) EXPECT_EQ(c.load(), 1);
      EXPECT(in_range);
    }
  }
}

TEST(a_pool_that_never_ran_ends) {
  ThreadPool pool(4);
}

}  // namespace skillgate::test
