// What goes wrong on a machine, in the words a user gets; and what stays usable afterwards.
#include <cstdlib>

#include "check.h"
#include "device_fixture.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

// The code and text of the failure that body gives, or "".
template <class Body>
std::string failure_of(Body body) {
  try {
    body();
  } catch (const Failure& e) {
    return e.code() + ": " + e.what();
  }
  return "";
}

std::string opening_fails_with() {
  return failure_of([] { open_cuda("bf16"); });
}

void expect_contains(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos)
    check::fail(__FILE__, __LINE__, "no \"" + part + "\" in: " + text);
}

}  // namespace

TEST(no_driver) {
  SettingsGuard guard;
  emulation::settings().driver_version = 0;
  expect_contains(opening_fails_with(), "ERR_NO_DEVICE: device \"cuda\": no NVIDIA driver found");
}

TEST(an_old_driver) {
  SettingsGuard guard;
  emulation::settings().driver_version = 12040;
  expect_contains(opening_fails_with(), "the NVIDIA driver supports CUDA 12.4, this build needs 13.0");
}

TEST(no_visible_gpu) {
  SettingsGuard guard;
  emulation::settings().devices = 0;
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  expect_contains(opening_fails_with(),
                  "NVIDIA driver found, but no GPU is visible (CUDA_VISIBLE_DEVICES=\"-1\")");
  unsetenv("CUDA_VISIBLE_DEVICES");
  expect_contains(opening_fails_with(), "CUDA_VISIBLE_DEVICES is not set");
}

TEST(a_gpu_of_another_architecture) {
  SettingsGuard guard;
  emulation::settings().has_kernel_image = false;
  emulation::settings().compute_major = 7;
  emulation::settings().compute_minor = 5;
  const std::string text = opening_fails_with();
  expect_contains(text, "ERR_NO_DEVICE: device \"cuda\": this build has code for ");
  expect_contains(text, "this GPU (Emulated GPU) is sm_75");
}

TEST(wrong_options) {
  expect_contains(failure_of([] { open_cuda("fp8"); }),
                  "ERR_INVALID_OPTION: expected precision \"bf16\" or \"fp32\"");
}

TEST(out_of_memory_says_what_was_needed_and_leaves_the_backend_usable) {
  SettingsGuard guard;
  emulation::settings().memory_bytes = size_t{96} << 20;
  const auto backend = open_cuda("fp32");
  EXPECT(backend->free_bytes() <= int64_t{96} << 20 && backend->free_bytes() > int64_t{64} << 20);
  expect_contains(failure_of([&] { backend->allocate(size_t{200} << 20); }),
                  "ERR_OUT_OF_MEMORY: needed 200 MiB on the GPU, ");
  // An op that runs out half-way: logits of 4096 rows.
  const int64_t R = 4096, D = 4, V = 20000;
  const DeviceArray hidden(*backend, std::vector<float>(R * D, 0.5f)),
      head(*backend, std::vector<float>(V * D, 0.5f));
  std::vector<int32_t> target(R, 7);
  std::vector<float> logprob(R);
  auto score = [&](int64_t rows) {
    backend->token_logprob(logprob.data(), nullptr, hidden.tensor({rows, D}), head.tensor({V, D}), nullptr,
                           target.data(), 1.f);
  };
  expect_contains(failure_of([&] { score(R); }), "ERR_OUT_OF_MEMORY: needed 313 MiB on the GPU, ");
  score(16);
  EXPECT_NEAR(logprob[15], -9.903487552536127, 1e-4);
}

TEST(a_kernel_that_cannot_be_launched_is_named_once) {
  SettingsGuard guard;
  const auto backend = open_cuda("fp32");
  const DeviceArray x(*backend, std::vector<float>(64, 1.f));
  emulation::settings().launch_to_fail = "swiglu_forward";
  const Tensor t = x.tensor({64});
  expect_contains(failure_of([&] { backend->swiglu_forward(t, t, t); }), "ERR_CUDA: swiglu_forward: invalid");
  emulation::settings().launch_to_fail = "";
  const std::string later = failure_of([&] { backend->swiglu_forward(t, t, t); });
  expect_contains(later, "ERR_DEVICE_LOST: the GPU cannot be used any more after: swiglu_forward");
  expect_contains(failure_of([&] { backend->synchronize(); }), "ERR_DEVICE_LOST");
}

TEST(a_kernel_that_breaks_is_among_those_named) {
  SettingsGuard guard;
  auto backend = open_cuda("fp32");
  {
    const DeviceArray x(*backend, std::vector<float>(64, 1.f));
    emulation::settings().kernel_to_fail = "swiglu_forward";
    const Tensor t = x.tensor({64});
    backend->add(t, t);
    backend->swiglu_forward(t, t, t);
    const std::string text = failure_of([&] { backend->synchronize(); });
    expect_contains(text, "ERR_CUDA: synchronize: an illegal memory access was encountered (CUDA error 700)");
    expect_contains(text, "latest last: add, swiglu_forward (");
  }
  backend.reset();  // what it holds is given back without another error
  emulation::take_faults();
  backend = open_cuda("fp32");
  {
    const DeviceArray x(*backend, std::vector<float>(64, 1.f));
    const Tensor t = x.tensor({64});
    backend->add(t, t);
    backend->synchronize();
    backend->swiglu_forward(t, t, t);
    for (int i = 0; i < 40; i++) backend->add(t, t);
    expect_contains(failure_of([&] { backend->synchronize(); }), "latest last: swiglu_forward, add (");
  }
  backend.reset();
  emulation::take_faults();
  open_cuda("fp32")->synchronize();
}

TEST(without_cublaslt_the_built_in_products_run) {
  EXPECT(open_cuda("bf16")->description() == "Emulated GPU (sm_90), bf16, products: built-in");
  expect_contains(open_cuda("bf16", "/nowhere/libcublasLt.so")->description(),
                  "products: built-in (no cuBLASLt: ");
  expect_contains(open_cuda("bf16", CUBLASLT_RIGHT)->description(), "products: cuBLASLt 13.0.2 (");
  EXPECT(open_cuda("fp32", CUBLASLT_RIGHT)->description() ==
         "Emulated GPU (sm_90), fp32, products: built-in");
}

TEST(a_cublaslt_that_computes_something_else_is_not_used) {
  expect_contains(open_cuda("bf16", CUBLASLT_WRONG)->description(),
                  "built-in (no cuBLASLt: its self-test gave ");
}

TEST(what_a_backend_allocates_it_gives_back) {
  emulation::take_faults();
  const size_t before = emulation::counters().allocated_bytes;
  {
    const auto backend = open_cuda("bf16", CUBLASLT_RIGHT);
    const DeviceArray x(*backend, std::vector<float>(1 << 20, 1.f)), sum(*backend, 1, DType::f64);
    backend->sum_of_squares(sum.tensor({1}), x.tensor({1 << 20}));
  }
  EXPECT_EQ(emulation::counters().allocated_bytes, before);
}

// One wait for each op that has host outputs, none for the others.
TEST(ops_do_not_make_the_host_wait) {
  const auto backend = open_cuda("bf16");
  const DeviceArray x(*backend, std::vector<float>(64 * 64, 0.01f)), y(*backend, 64 * 64);
  const DeviceArray gradient(*backend, std::vector<float>(64 * 64, 0.f));
  const Tensor t = x.tensor({64, 64}), out = y.tensor({64, 64}), dw = gradient.tensor({64, 64});
  auto waits = [&](auto op) {
    op();  // scratch memory grows the first time
    const uint64_t before = emulation::counters().synchronizations;
    op();
    return emulation::counters().synchronizations - before;
  };
  EXPECT_EQ(waits([&] {
              backend->linear_forward(out, t, t, nullptr, {});
              backend->linear_backward_input(out, t, t, nullptr, false);
              backend->linear_backward_weight(dw, {}, t, t);
              backend->swiglu_forward(out, t, t);
              backend->add(out, t);
            }),
            uint64_t{0});
  std::vector<int32_t> target(64, 1);
  std::vector<float> ones(64, 1.f), logprob(64), entropy(64);
  std::vector<uint8_t> clipped(64);
  EXPECT_EQ(waits([&] {
              PolicyLossArgs a;
              a.hidden = a.lm_head = t;
              a.target = target.data();
              a.advantage = a.weight = a.kl_weight = ones.data();
              a.logprob = logprob.data();
              a.entropy = entropy.data();
              a.clipped = clipped.data();
              a.d_hidden = out;
              a.d_lm_head = dw;
              backend->policy_loss(a);
            }),
            uint64_t{1});
  const DeviceArray sum(*backend, 1, DType::f64);
  EXPECT_EQ(waits([&] {
              backend->sum_of_squares(sum.tensor({1}), t);
              backend->adamw(out, dw, t, t, sum.tensor({1}), {});
            }),
            uint64_t{0});
}

TEST(a_loss_that_nobody_asked_about_is_forgotten) {
  for_each_precision([](Backend& backend, const std::string&) {
    const int64_t D = 16, V = 40;
    const DeviceArray head(backend, std::vector<float>(V * D, 0.1f));
    const std::vector<int32_t> target(30, 3);
    const std::vector<float> ones(30, 1.f);
    auto rows = [&](const DeviceArray& hidden, int64_t R, std::vector<float>& logprob) {
      PolicyLossArgs a;
      a.hidden = hidden.tensor({R, D});
      a.lm_head = head.tensor({V, D});
      a.target = target.data();
      a.advantage = a.weight = ones.data();
      logprob.assign(30, 5.f);
      a.logprob = logprob.data();
      return a;
    };
    std::vector<float> values(20 * D);
    for (size_t i = 0; i < values.size(); i++) values[i] = static_cast<float>(i % 7) - 3.f;
    const DeviceArray few(backend, values), many(backend, std::vector<float>(30 * D, 0.5f));
    std::vector<float> alone, forgotten, after;
    const PolicyLossArgs a = rows(few, 20, alone);
    const double loss = backend.policy_loss(a).loss;
    backend.start_policy_loss(rows(many, 30, forgotten));
    const PolicyLossArgs b = rows(few, 20, after);
    backend.start_policy_loss(b);
    EXPECT_EQ(backend.finish_policy_loss(b).loss, loss);
    EXPECT(after == alone);
    EXPECT(forgotten == std::vector<float>(30, 5.f));
  });
}

// Pieces from a few bytes to more than a block of the pinned memory, changed by their owner at once, many
// times what is kept in all.
TEST(uploads_arrive_as_they_were_given) {
  const auto backend = open_cuda("fp32");
  for (const int64_t count : {int64_t{1}, int64_t{1000}, int64_t{300000}, int64_t{5000000}}) {
    const DeviceArray x(*backend, count), y(*backend, count);
    std::vector<float> given(static_cast<size_t>(count));
    uint64_t waits = 0;
    for (int round = 0; round < 8; round++) {
      std::fill(given.begin(), given.end(), static_cast<float>(round));
      const uint64_t before = emulation::counters().synchronizations;
      const DeviceArray& to = round % 2 ? y : x;
      backend->upload(to.tensor({count}).data, given.data(), given.size() * sizeof(float));
      waits += emulation::counters().synchronizations - before;
    }
    std::fill(given.begin(), given.end(), -1.f);
    EXPECT(x.floats() == std::vector<float>(static_cast<size_t>(count), 6.f));
    EXPECT(y.floats() == std::vector<float>(static_cast<size_t>(count), 7.f));
    EXPECT_EQ(waits, static_cast<uint64_t>(count > 1 << 20 ? 8 : 0));
  }
}
