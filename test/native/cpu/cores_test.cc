#include "cpu/cores.h"

#include <thread>

#include "check.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace skillgate::test {

TEST(quotas) {
  EXPECT_EQ(cores_of_quota("200000 100000"), 2);
  EXPECT_EQ(cores_of_quota("150000 100000"), 2);
  EXPECT_EQ(cores_of_quota("5000 100000"), 1);
  EXPECT_EQ(cores_of_quota("max 100000"), 0);
  EXPECT_EQ(cores_of_quota(""), 0);
  EXPECT_EQ(cores_of_quota("-1 100000"), 0);
  EXPECT_EQ(cores_of_quota("100000 0"), 0);
  EXPECT_EQ(cores_of_quota("9000000000000000000 1"), 1 << 20);
}

TEST(there_is_a_core) {
  EXPECT(usable_cores() >= 1);
}

#if defined(__linux__)

// In a thread of its own, which keeps to `core` alone or to all that the test may use.
template <class Body>
void on_cores(const cpu_set_t& set, const Body& body) {
  std::thread([&] {
    EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    body();
    cpu_set_t after;
    EXPECT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT(CPU_EQUAL(&after, &set));
  }).join();
}

TEST(a_thread_leaves_a_core_where_it_may) {
  cpu_set_t allowed, one;
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  CPU_ZERO(&one);
  CPU_SET(current_core(), &one);
  on_cores(one, [] {
    const int core = current_core();
    EXPECT(!leave_core(core));  // it has no other
    EXPECT_EQ(current_core(), core);
    EXPECT(!leave_core(core + 1));
    EXPECT(!leave_core(-1));
  });
  on_cores(allowed, [&] {
    // The system may have moved the thread itself in between: then there was nothing to leave.
    for (int i = 0; i < 100; ++i) {
      const int core = current_core();
      if (leave_core(core)) return;
    }
    EXPECT_EQ(CPU_COUNT(&allowed), 1);
  });
}

#endif

}  // namespace skillgate::test
