#include "cpu/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Draw {
  int32_t token;
  float logprob;
};

std::vector<Draw> draw(Backend& b, std::vector<float> logits, const std::vector<SampleOptions>& options) {
  const int64_t R = static_cast<int64_t>(options.size()), V = static_cast<int64_t>(logits.size()) / R;
  std::vector<int32_t> token(options.size());
  std::vector<float> logprob(options.size());
  b.sample(token.data(), logprob.data(), Tensor(logits.data(), DType::f32, {R, V}), options.data());
  std::vector<Draw> draws;
  for (size_t r = 0; r < options.size(); ++r) draws.push_back({token[r], logprob[r]});
  return draws;
}

// `count` draws from one row of logits, counters 0, 1, 2, ...
std::vector<int32_t> draw_many(Backend& b, const std::vector<float>& logits, SampleOptions o, int count) {
  std::vector<float> rows;
  std::vector<SampleOptions> options;
  for (int i = 0; i < count; ++i) {
    rows.insert(rows.end(), logits.begin(), logits.end());
    o.counter = static_cast<uint64_t>(i);
    options.push_back(o);
  }
  std::vector<int32_t> tokens;
  for (const Draw& d : draw(b, rows, options)) tokens.push_back(d.token);
  return tokens;
}

// The definition: which probabilities are left, by a full sort.
Doubles kept_probabilities(const std::vector<float>& logits, const SampleOptions& o) {
  const size_t V = logits.size();
  std::vector<size_t> order(V);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  Doubles p(V);
  for (size_t i = 0; i < V; ++i) p[i] = std::exp((double{logits[i]} - logits[order[0]]) / o.temperature);
  size_t n = o.top_k > 0 ? std::min<size_t>(V, static_cast<size_t>(o.top_k)) : V;
  double total = 0, sum = 0;
  for (size_t i = 0; i < n; ++i) total += p[order[i]];
  if (o.top_p < 1) {
    size_t kept = 0;
    while (kept < n && (kept == 0 || sum < o.top_p * total)) sum += p[order[kept++]];
    n = kept;
  }
  Doubles left(V);
  for (size_t i = 0; i < n; ++i) {
    if (p[order[i]] >= o.min_p) left[order[i]] = p[order[i]];
  }
  total = std::accumulate(left.begin(), left.end(), 0.0);
  for (double& x : left) x /= total;
  return left;
}

}  // namespace

TEST(uniform_numbers_are_those_of_philox) {
  // Philox4x32-10 of counter 0 and key 0 begins 6627e8d5 e169c58d.
  EXPECT_EQ(uniform_number(0, 0), static_cast<double>(0x6627e8d5e169c58dull >> 11) * 0x1p-53);
  double sum = 0, squares = 0;
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const double u = uniform_number(42, static_cast<uint64_t>(i));
    EXPECT(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / n, 0.5, 0.01);
  EXPECT_NEAR(squares / n, 1 / 3., 0.01);
  EXPECT(uniform_number(1, 0) != uniform_number(2, 0));
  EXPECT(uniform_number(1, 0) != uniform_number(1ull << 32, 0));
  EXPECT(uniform_number(1, 1) != uniform_number(1, 1ull << 32));
}

TEST(logprob_equals_token_logprob_bit_for_bit) {
  for (int64_t V : {1, 5, 511, 512, 513, 2000}) {
    for (float temperature : {1.f, 0.7f, 0.f, 1.9f}) {
      const int64_t R = 9, D = 33;
      Random random(static_cast<uint64_t>(V));
      std::vector<float> hidden = random.normals(R * D), head = random.normals(V * D),
                         logits(static_cast<size_t>(R * V));
      for_each_backend([&](Backend& b) {
        const Tensor x(hidden.data(), DType::f32, {R, D}), w(head.data(), DType::f32, {V, D});
        std::vector<char> packed(b.packed_bytes(V, D));
        b.pack(packed.data(), w);
        b.linear_forward(Tensor(logits.data(), DType::f32, {R, V}), x, w, packed.data(), Tensor());
        std::vector<SampleOptions> options(static_cast<size_t>(R));
        for (int64_t r = 0; r < R; ++r) {
          options[r].temperature = temperature;
          options[r].counter = static_cast<uint64_t>(r);
          options[r].top_p = r % 3 == 1 ? 0.5f : 1.f;
          options[r].top_k = r % 3 == 2 ? 3 : 0;
        }
        const std::vector<Draw> draws = draw(b, logits, options);
        for (int64_t r = 0; r < R; ++r) {
          float logprob = 0;
          b.token_logprob(&logprob, nullptr, Tensor(hidden.data() + r * D, DType::f32, {1, D}), w,
                          packed.data(), &draws[r].token, temperature > 0 ? temperature : 1.f);
          EXPECT(same_bits(&logprob, &draws[r].logprob, sizeof logprob));
        }
      });
    }
  }
}

TEST(temperature_zero_takes_the_lowest_of_the_most_likely) {
  std::vector<float> logits(700, -1.f);
  logits[650] = logits[130] = logits[131] = 2.f;
  SampleOptions o;
  o.temperature = 0;
  o.top_k = 5;
  for_each_backend([&](Backend& b) {
    const Draw d = draw(b, logits, {o})[0];
    EXPECT_EQ(d.token, 130);
    EXPECT_NEAR(d.logprob, 2 - std::log(3 * std::exp(2.) + 697 * std::exp(-1.)), 1e-5);
  });
}

#ifdef SKILLGATE_CUDA_EMULATION
constexpr int kDraws =
    200;  // every thread of a block is a fiber there; the tolerance follows the number of draws
#else
constexpr int kDraws = 4000;
#endif

TEST(frequencies_follow_the_kept_probabilities) {
  std::vector<SampleOptions> options(8);
  options[1].temperature = 0.5f;
  options[2].top_k = 3;
  options[3].top_p = 0.6f;
  options[4].min_p = 0.3f;
  options[5].top_k = 5;
  options[5].top_p = 0.8f;
  options[5].min_p = 0.1f;
  options[6].top_p = 0.f;
  options[7].top_k = 1000;
  options[7].top_p = 0.999f;
  Random random(11);
  for (int64_t V : {6, 1030}) {
    // At most about twenty likely tokens, spread over the vocabulary.
    std::vector<float> logits(static_cast<size_t>(V), -12.f);
    for (int64_t i = 0; i < std::min<int64_t>(V, 20); ++i)
      logits[i * V / std::min<int64_t>(V, 20)] = random.normal();
    for (size_t i = 0; i < options.size(); ++i) {
      check::Scope scope("V=" + std::to_string(V) + " options " + std::to_string(i));
      options[i].seed = 99;
      const Doubles want = kept_probabilities(logits, options[i]);
      const int count = kDraws;
      std::vector<int32_t> first;
      for_each_backend([&](Backend& b) {
        const std::vector<int32_t> tokens = draw_many(b, logits, options[i], count);
        if (first.empty()) first = tokens;
        Doubles seen(want.size());
        for (int32_t t : tokens) seen[t] += 1. / count;
        for (size_t t = 0; t < want.size(); ++t) {
          EXPECT_NEAR(seen[t], want[t],
                      5 * std::sqrt(want[t] * (1 - want[t]) / count) + (want[t] > 0 ? 1e-3 : 0));
        }
      });
    }
  }
}

TEST(a_draw_depends_on_its_own_row_seed_and_counter) {
  const int64_t V = 900, R = 12;
  Random random(4);
  std::vector<float> logits = random.normals(R * V, 2.f);
  std::vector<SampleOptions> options(static_cast<size_t>(R));
  for (int64_t r = 0; r < R; ++r) {
    options[r].seed = static_cast<uint64_t>(r % 2);
    options[r].counter = static_cast<uint64_t>(r * 1000003);
    options[r].top_p = r % 2 ? 0.9f : 1.f;
  }
  for_each_backend([&](Backend& b) {
    const std::vector<Draw> all = draw(b, logits, options);
    for (int64_t r = 0; r < R; ++r) {
      const Draw alone = draw(b, {logits.begin() + r * V, logits.begin() + (r + 1) * V}, {options[r]})[0];
      EXPECT_EQ(alone.token, all[r].token);
      EXPECT_EQ(alone.logprob, all[r].logprob);
    }
  });
}

TEST(impossible_tokens_are_never_drawn) {
  std::vector<float> logits(1100, -kInf);
  logits[7] = 0.f;
  logits[1099] = 1.f;
  for_each_backend([&](Backend& b) {
    for (float top_p : {1.f, 0.99f}) {
      SampleOptions o;
      o.top_p = top_p;
      for (int32_t t : draw_many(b, logits, o, 200)) EXPECT(t == 7 || t == 1099);
    }
  });
}

TEST(a_row_with_nan_is_reported_by_its_logprob) {
  for (bool filtered : {false, true}) {
    std::vector<float> logits(600, 1.f);
    logits[33] = std::nanf("");
    SampleOptions o;
    o.top_k = filtered ? 4 : 0;
    for_each_backend([&](Backend& b) {
      const Draw d = draw(b, logits, {o})[0];
      EXPECT(d.token >= 0 && d.token < 600);
      EXPECT(std::isnan(d.logprob));
    });
  }
}

}  // namespace skillgate::test
