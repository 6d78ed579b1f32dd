#include "cpu/cores.h"

#include "check.h"

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

}  // namespace skillgate::test
