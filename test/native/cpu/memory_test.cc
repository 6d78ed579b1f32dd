#include "cpu/memory.h"

#include "check.h"

namespace skillgate::test {

TEST(available_memory_is_read_from_the_system) {
  EXPECT_EQ(available_in_meminfo("MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:   24 kB\n"), 24 * 1024);
  EXPECT_EQ(available_in_meminfo("MemTotal:  100 kB\n"), -1);
  EXPECT_EQ(available_in_meminfo("MemAvailable: many kB\n"), -1);
  EXPECT_EQ(available_in_meminfo("MemAvailable: 9223372036854775807 kB\n"), -1);
  EXPECT_EQ(available_in_meminfo(""), -1);
  EXPECT(available_memory() > 0);
}

TEST(a_control_group_limits_memory) {
  EXPECT_EQ(left_in_control_group("1000\n", "600\n", "anon 400\ninactive_file 150\n"), 550);
  EXPECT_EQ(left_in_control_group("1000\n", "600\n", ""), 400);
  EXPECT_EQ(left_in_control_group("1000\n", "1200\n", ""), 0);
  EXPECT_EQ(left_in_control_group("1000\n", "600\n", "inactive_file 9999\n"), 1000);
  EXPECT_EQ(left_in_control_group("max\n", "600\n", ""), -1);
  EXPECT_EQ(left_in_control_group("", "", ""), -1);
}

}  // namespace skillgate::test
