#include "golden_file.h"
#include "policy_loss_problem.h"

namespace skillgate::test {
namespace {

const int64_t kSizes[][3] = {{1, 1, 1},       {17, 20, 131},  {64, 33, 512}, {5, 7, 513},
                             {131, 16, 1100}, {200, 64, 300}, {4500, 3, 5}};

}  // namespace

TEST(golden_cases) {
  for (const char* name : {"grpo_k3", "dual_clip", "temperature", "k1", "large_logits", "extreme_ratio",
                           "one_token", "all_masked"}) {
    check::Scope scope(name);
    const GoldenFile f(std::string("loss/") + name);
    Problem p;
    p.R = f.shape("hidden")[0];
    p.D = f.shape("hidden")[1];
    p.V = f.shape("lm_head")[0];
    p.hidden = f.floats("hidden");
    p.lm_head = f.floats("lm_head");
    p.target = f.ints("target");
    p.behaviour = f.floats("old_logprob");
    p.reference = f.floats("ref_logprob");
    const std::vector<int32_t> channel = f.ints("channel");
    const double denominator = f.number("denominator");
    for (int64_t r = 0; r < p.R; ++r) {
      const bool selection = channel[r] == 2;
      p.advantage.push_back(f.floats(selection ? "selector_advantage" : "task_advantage")[r]);
      const double weight = selection         ? f.number("selector_coef") * f.floats("selector_weight")[r]
                            : channel[r] == 1 ? f.floats("task_weight")[r]
                                              : 0;
      p.weight.push_back(static_cast<float>(weight / denominator));
      p.kl_weight.push_back(static_cast<float>(f.floats("kl_weight")[r] / denominator));
    }
    p.options.temperature = static_cast<float>(f.number("temperature"));
    p.options.clip_low = static_cast<float>(f.number("clip_low"));
    p.options.clip_high = static_cast<float>(f.number("clip_high"));
    p.options.dual_clip = static_cast<float>(f.number("dual_clip"));
    p.options.kl = f.text("kl") == "k1"   ? KlEstimator::k1
                   : f.text("kl") == "k2" ? KlEstimator::k2
                                          : KlEstimator::k3;
    p.options.kl_coefficient = static_cast<float>(f.number("kl_coef"));
    const std::vector<float> logprob = f.floats("logprob"), entropy = f.floats("entropy");
    auto weight_of = [&](int64_t r) {
      return f.floats(channel[r] == 2 ? "selector_weight" : "task_weight")[r];
    };
    for_each_backend([&](Backend& b) {
      const Result got = run(b, p, true);
      EXPECT_NEAR(got.loss, f.number("loss"), 1e-5 * std::max(1., std::abs(f.number("loss"))));
      EXPECT_NEAR(got.kl_loss, f.number("kl_loss"), 1e-5 * std::max(1., std::abs(f.number("kl_loss"))));
      double clipped[3] = {0, 0, 0};
      for (int64_t r = 0; r < p.R; ++r) {
        if (p.weight[r] == 0 && p.kl_weight[r] == 0) {
          EXPECT_EQ(got.logprob[r], 0.f);
          EXPECT_EQ(got.entropy[r], 0.f);
          continue;
        }
        const double tolerance = std::abs(logprob[r]) < 20 ? 5e-5 : 1e-5 * std::abs(logprob[r]);
        EXPECT_NEAR(got.logprob[r], logprob[r], tolerance);
        EXPECT_NEAR(got.entropy[r], entropy[r], 5e-5);
        // The file counts the tokens where the clip of the ratio was taken, not those the dual clip then
        // bounded.
        const bool dual = p.options.dual_clip > 0 && p.advantage[r] < 0 &&
                          got.logprob[r] - p.behaviour[r] > std::log(p.options.dual_clip);
        if (got.clipped[r] && !dual) clipped[channel[r]] += weight_of(r);
      }
      EXPECT_NEAR(clipped[1], f.number("task_clipped_weight"), 1e-5);
      EXPECT_NEAR(clipped[2], f.number("selector_clipped_weight"), 1e-5);
      EXPECT_NEAR(relative_distance(got.d_hidden.data(), widen(f.floats("d_hidden"))), 0, 2e-5);
      EXPECT_NEAR(relative_distance(got.d_lm_head.data(), widen(f.floats("d_lm_head"))), 0, 2e-5);
    });
  }
}

TEST(random_cases) {
  for (const auto& [R, D, V] : kSizes) {
    for (KlEstimator kl : {KlEstimator::k1, KlEstimator::k2, KlEstimator::k3}) {
      check::Scope scope("R=" + std::to_string(R) + " D=" + std::to_string(D) + " V=" + std::to_string(V));
      Problem p = random_problem(R, D, V, 9);
      p.options.kl = kl;
      p.options.temperature = kl == KlEstimator::k2 ? 0.7f : 1.f;
      p.options.dual_clip = kl == KlEstimator::k3 ? 1.5f : 0.f;
      const Wanted want = reference(p);
      for (const std::string& set : instruction_sets()) {
        Result first;
        for (int threads : {1, 2, 4}) {
          check::Scope which(set + ", threads " + std::to_string(threads));
          auto b = open_cpu(set, threads);
          const Result got = run(*b, p, true);
          if (threads == 1) {
            first = got;
            expect_close(got, want, p);
          }
          EXPECT(got == first);
          EXPECT(run(*b, p, false) == first);
        }
      }
    }
  }
}

TEST(without_behaviour_the_ratio_is_one) {
  Problem p = random_problem(40, 12, 70, 4);
  p.behaviour.clear();
  const Wanted want = reference(p);
  for_each_backend([&](Backend& b) {
    const Result got = run(b, p, true);
    expect_close(got, want, p);
    for (uint8_t c : got.clipped) EXPECT_EQ(c, 0);
    // On policy: the behaviour logprobs are the ones just computed.
    Problem on_policy = p;
    on_policy.behaviour = got.logprob;
    EXPECT(run(b, on_policy, true) == got);
  });
}

TEST(poisoned_rows_change_no_bit) {
  Problem p = random_problem(150, 24, 600, 8);
  Problem poisoned = p;
  const float poison[] = {kNan, std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), 200.f};
  for (int64_t r = 0; r < p.R; ++r) {
    const float x = poison[r % 4];
    if (p.weight[r] == 0) poisoned.advantage[r] = poisoned.behaviour[r] = x;
    if (p.kl_weight[r] == 0) poisoned.reference[r] = x;
    if (p.weight[r] != 0 || p.kl_weight[r] != 0) continue;
    poisoned.target[r] = r % 2 ? -1 : std::numeric_limits<int32_t>::max();
    for (int64_t d = 0; d < p.D; ++d) poisoned.hidden[r * p.D + d] = x;
  }
  for_each_backend([&](Backend& b) {
    const Result got = run(b, p, true);
    EXPECT(run(b, poisoned, true) == got);
    for (int64_t r = 0; r < p.R; ++r) {
      if (p.weight[r] != 0 || p.kl_weight[r] != 0) continue;
      EXPECT(got.logprob[r] == 0 && got.entropy[r] == 0 && got.clipped[r] == 0);
      for (int64_t d = 0; d < p.D; ++d) EXPECT_EQ(got.d_hidden[r * p.D + d], 0.f);
    }
  });
}

TEST(absent_rows_taken_out_change_no_bit) {
  Problem p = random_problem(90, 24, 600, 8);
  Problem dense = p;
  dense.hidden.clear();
  dense.target.clear();
  dense.advantage.clear();
  dense.weight.clear();
  dense.kl_weight.clear();
  dense.behaviour.clear();
  dense.reference.clear();
  dense.R = 0;
  std::vector<int64_t> kept;
  for (int64_t r = 0; r < p.R; ++r) {
    if (p.weight[r] == 0 && p.kl_weight[r] == 0) continue;
    kept.push_back(r);
    dense.hidden.insert(dense.hidden.end(), p.hidden.begin() + r * p.D, p.hidden.begin() + (r + 1) * p.D);
    dense.target.push_back(p.target[r]);
    dense.advantage.push_back(p.advantage[r]);
    dense.weight.push_back(p.weight[r]);
    dense.kl_weight.push_back(p.kl_weight[r]);
    dense.behaviour.push_back(p.behaviour[r]);
    dense.reference.push_back(p.reference[r]);
    ++dense.R;
  }
  for_each_backend([&](Backend& b) {
    const Result got = run(b, p, true), alone = run(b, dense, true);
    EXPECT_EQ(got.loss, alone.loss);
    EXPECT(same_bits(got.d_lm_head.data(), alone.d_lm_head.data(), got.d_lm_head.size() * sizeof(float)));
    for (size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(got.logprob[kept[i]], alone.logprob[i]);
      EXPECT(same_bits(&got.d_hidden[kept[i] * p.D], &alone.d_hidden[i * p.D],
                       static_cast<size_t>(p.D) * sizeof(float)));
    }
  });
}

TEST(two_calls_add_up_in_the_lm_head_only) {
  Problem p = random_problem(60, 16, 90, 2);
  const Wanted want = reference(p);
  Doubles twice = want.d_lm_head;
  for (double& x : twice) x *= 2;
  for_each_backend([&](Backend& b) {
    const Result got = run(b, p, true, true, 2);
    EXPECT_NEAR(relative_distance(got.d_lm_head.data(), twice), 0, 1e-5);
    EXPECT_NEAR(relative_distance(got.d_hidden.data(), want.d_hidden), 0, 1e-5);
  });
}

TEST(forward_only_gives_the_same_values) {
  Problem p = random_problem(130, 30, 1300, 6);
  for_each_backend([&](Backend& b) {
    const Result with = run(b, p, true), without = run(b, p, true, false);
    EXPECT_EQ(with.loss, without.loss);
    EXPECT(with.logprob == without.logprob);
    EXPECT(with.entropy == without.entropy);
  });
}

TEST(token_logprob_equals_the_loss_and_stands_for_itself) {
  for (const auto& [R, D, V] : kSizes) {
    Problem p = random_problem(R, D, V, 12);
    for (float& w : p.weight) w = 1.f;
    p.options.temperature = 0.8f;
    for_each_backend([&, V = V, D = D, R = R](Backend& b) {
      const Result loss = run(b, p, true, false);
      std::vector<float> logprob(static_cast<size_t>(R)), entropy(logprob.size());
      const Tensor hidden(p.hidden.data(), DType::f32, {R, D}), head(p.lm_head.data(), DType::f32, {V, D});
      b.token_logprob(logprob.data(), entropy.data(), hidden, head, nullptr, p.target.data(), 0.8f);
      EXPECT(logprob == loss.logprob);
      EXPECT(entropy == loss.entropy);
      const int64_t r = R / 2;
      float alone = 0;
      b.token_logprob(&alone, nullptr, Tensor(p.hidden.data() + r * D, DType::f32, {1, D}), head, nullptr,
                      p.target.data() + r, 0.8f);
      EXPECT_EQ(alone, logprob[r]);
    });
  }
}

TEST(large_logits) {
  for (int64_t D : {32, 100, 300}) {
    Problem p = random_problem(60, D, 120, static_cast<uint64_t>(D));
    for (float& x : p.hidden) x *= 100.f;
    // Behaviour and reference near the true logprob, where ratio and kl have a slope.
    const Wanted true_values = reference(p);
    for (int64_t r = 0; r < p.R; ++r) {
      p.behaviour[r] = static_cast<float>(true_values.logprob[r]) + 0.05f;
      p.reference[r] = static_cast<float>(true_values.logprob[r]) - 0.3f;
    }
    const Wanted want = reference(p);
    for_each_backend([&](Backend& b) {
      const Result got = run(b, p, true);
      EXPECT_NEAR(relative_distance(got.logprob.data(), want.logprob), 0, 1e-7);
      EXPECT_NEAR(relative_distance(got.d_hidden.data(), want.d_hidden), 0, 2e-5);
      EXPECT_NEAR(relative_distance(got.d_lm_head.data(), want.d_lm_head), 0, 2e-5);
    });
  }
}

TEST(impossible_tokens_have_no_entropy) {
  // Logits 0 and -inf: probability 1 and 0.
  Problem p = random_problem(1, 1, 2, 1);
  p.hidden = {1.f};
  p.lm_head = {0.f, -std::numeric_limits<float>::infinity()};
  p.target = {0};
  p.weight = {1.f};
  p.kl_weight = {0.f};
  for_each_backend([&](Backend& b) {
    const Result got = run(b, p, true, false);
    EXPECT_EQ(got.logprob[0], 0.f);
    EXPECT_EQ(got.entropy[0], 0.f);
  });
}

TEST(a_target_outside_the_vocabulary_is_named) {
  Problem p = random_problem(3, 4, 5, 1);
  p.weight = {1.f, 1.f, 1.f};
  for (int32_t bad : {-1, 5}) {
    p.target[1] = bad;
    for_each_backend([&](Backend& b) { EXPECT_FAILURE("ERR_INVALID_TOKEN", run(b, p, true)); });
  }
}

}  // namespace skillgate::test
