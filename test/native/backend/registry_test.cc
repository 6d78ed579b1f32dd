#include <cstring>
#include <limits>
#include <vector>

#include "backend/backend.h"
#include "check.h"

namespace skillgate::test {
namespace {

BackendOptions with(int threads, const std::string& set) {
  BackendOptions options;
  options.threads = threads;
  options.instruction_set = set;
  return options;
}

}  // namespace

TEST(the_cpu_opens) {
  auto b = open_backend("cpu", with(1, "portable"));
  EXPECT_EQ(std::string(b->name()), "cpu");
  EXPECT_EQ(b->description(), "portable, 1 thread");
  EXPECT_EQ(open_backend("cpu", with(3, "portable"))->description(), "portable, 3 threads");
  EXPECT(!open_backend("cpu", {})->description().empty());
}

TEST(wrong_options_are_named) {
  EXPECT_FAILURE("ERR_INVALID_OPTION", open_backend("tpu", {}));
  EXPECT_FAILURE("ERR_INVALID_OPTION", open_backend("", {}));
  EXPECT_FAILURE("ERR_INVALID_OPTION", open_backend("cpu", with(1, "sse9")));
  EXPECT_FAILURE("ERR_INVALID_OPTION", open_backend("cpu", with(-1, "")));
  EXPECT_FAILURE("ERR_INVALID_OPTION", open_backend("cpu", with(1 << 20, "")));
#if !defined(SKILLGATE_WITH_CUDA)
  EXPECT_FAILURE("ERR_NO_DEVICE", open_backend("cuda", {}));
#endif
}

TEST(memory) {
  auto b = open_backend("cpu", with(1, ""));
  for (size_t bytes : {size_t{1}, size_t{64}, size_t{1000}, size_t{5} << 20}) {
    std::vector<unsigned char> host(bytes, 0x5c), back(bytes, 0);
    void *p = b->allocate(bytes), *q = b->allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, uintptr_t{0});
    b->upload(p, host.data(), bytes);
    b->copy(q, p, bytes);
    b->zero(p, bytes);
    b->synchronize();
    b->download(back.data(), q, bytes);
    EXPECT(back == host);
    b->download(back.data(), p, bytes);
    EXPECT(back == std::vector<unsigned char>(bytes, 0));
    b->release(p);
    b->release(q);
  }
  b->release(nullptr);
}

TEST(too_much_memory_is_an_error) {
  auto b = open_backend("cpu", with(1, ""));
  for (size_t bytes :
       {std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max() / 2, size_t{1} << 62}) {
    EXPECT_FAILURE("ERR_OUT_OF_MEMORY", b->allocate(bytes));
  }
}

}  // namespace skillgate::test
