#include <cmath>
#include <vector>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

struct Read {
  int32_t call_start, call_end, identity_start, identity_end;
  float advantage;
};

struct Batch {
  std::vector<int32_t> offsets;
  std::vector<uint8_t> generated;
  std::vector<float> outcome;
  std::vector<Read> reads;
  double coefficient = 0.2;
  bool included = false;
};

struct Mask {
  int64_t generated = 0;
  std::vector<uint8_t> channel;
  std::vector<float> advantage, weight, kl_weight;
};

Mask run(const Batch& batch) {
  const size_t n = batch.generated.size();
  Mask m;
  m.channel.assign(n, 9);
  for (auto* x : {&m.advantage, &m.weight, &m.kl_weight}) x->assign(n, std::nanf(""));
  std::vector<int32_t> columns[4];
  std::vector<float> advantage;
  for (const Read& r : batch.reads) {
    columns[0].push_back(r.call_start);
    columns[1].push_back(r.call_end);
    columns[2].push_back(r.identity_start);
    columns[3].push_back(r.identity_end);
    advantage.push_back(r.advantage);
  }
  TokenMaskArgs a;
  a.tokens = static_cast<int64_t>(n);
  a.sequences = static_cast<int64_t>(batch.outcome.size());
  a.reads = static_cast<int64_t>(batch.reads.size());
  a.sequence_offsets = batch.offsets.data();
  a.generated = batch.generated.data();
  a.outcome_advantage = batch.outcome.data();
  a.call_start = columns[0].data();
  a.call_end = columns[1].data();
  a.identity_start = columns[2].data();
  a.identity_end = columns[3].data();
  a.read_advantage = advantage.data();
  a.selector_coefficient = batch.coefficient;
  a.read_calls_included = batch.included;
  a.channel = m.channel.data();
  a.advantage = m.advantage.data();
  a.weight = m.weight.data();
  a.kl_weight = m.kl_weight.data();
  m.generated = open_cpu("", 1)->token_mask(a);
  return m;
}

// Two sequences of 10 and 6 tokens; tokens 2 .. 9 and 11 .. 15 are generated. One read in each.
Batch example() {
  return {{0, 10, 16},
          {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1},
          {0.5f, -0.5f},
          {{3, 7, 4, 6, 0.75f}, {11, 14, 12, 13, -0.25f}}};
}

void expect_channels(const Mask& m, const std::string& want) {
  std::string got;
  for (uint8_t c : m.channel) got += static_cast<char>('0' + c);
  EXPECT_EQ(got, want);
}

}  // namespace

TEST(reads_leave_the_execution_channel) {
  const Mask m = run(example());
  EXPECT_EQ(m.generated, int64_t{13});
  expect_channels(m, "0010220111002011");
  for (size_t t = 0; t < m.channel.size(); ++t) {
    EXPECT_EQ(m.kl_weight[t], example().generated[t] ? 1.f / 13 : 0.f);
    if (m.channel[t] == 1) EXPECT_EQ(m.weight[t], 1.f / 6);
    if (m.channel[t] == 1) EXPECT_EQ(m.advantage[t], t < 10 ? 0.5f : -0.5f);
    if (m.channel[t] == 2) EXPECT_EQ(m.weight[t], static_cast<float>(t < 10 ? 0.2 / 2 / 2 : 0.2 / 2));
    if (m.channel[t] == 2) EXPECT_EQ(m.advantage[t], t < 10 ? 0.75f : -0.25f);
    if (m.channel[t] == 0) EXPECT(m.weight[t] == 0 && m.advantage[t] == 0);
  }
}

TEST(included_calls_stay_but_for_active_identities) {
  Batch b = example();
  b.included = true;
  b.reads[1].advantage = 0;
  expect_channels(run(b), "0011221111011111");
}

TEST(a_read_without_advantage_gets_nothing) {
  Batch b = example();
  b.reads[0].advantage = 0;
  const Mask m = run(b);
  expect_channels(m, "0010000111002011");
  EXPECT_EQ(m.weight[12], 0.2f);
}

TEST(a_read_without_generated_identity_is_not_active) {
  Batch b = example();
  b.reads[1].identity_start = 10;
  b.reads[1].identity_end = 11;
  const Mask m = run(b);
  expect_channels(m, "0010220111000011");
  EXPECT_EQ(m.weight[4], 0.1f);
}

TEST(a_token_of_two_identities_belongs_to_the_earlier_read) {
  Batch b = example();
  b.reads[1] = {3, 7, 5, 7, -1.f};
  const Mask m = run(b);
  expect_channels(m, "0010222111011111");
  EXPECT_EQ(m.advantage[5], 0.75f);
  EXPECT_EQ(m.advantage[6], -1.f);
  EXPECT_EQ(m.weight[6], 0.1f);
  // All of it: the later read has no token left.
  b.reads[1].identity_end = 6;
  EXPECT_EQ(run(b).weight[4], 0.1f);
}

TEST(nothing_generated) {
  Batch b = example();
  b.generated.assign(16, 0);
  const Mask m = run(b);
  EXPECT_EQ(m.generated, int64_t{0});
  for (size_t t = 0; t < 16; ++t) EXPECT(m.channel[t] == 0 && m.weight[t] == 0 && m.kl_weight[t] == 0);
}

TEST(no_tokens_at_all) {
  EXPECT_EQ(run({{0}, {}, {}, {}}).generated, int64_t{0});
}

// On random batches: channels are disjoint and generated, each channel's weights add up to 1 and to lambda.
TEST(weights_add_up) {
  Random random(17);
  for (int round = 0; round < 200; ++round) {
    Batch b;
    b.offsets = {0};
    b.included = round % 2;
    const int64_t sequences = 1 + random.below(5);
    for (int64_t s = 0; s < sequences; ++s) {
      const int32_t start = b.offsets.back(), length = static_cast<int32_t>(1 + random.below(40));
      b.offsets.push_back(start + length);
      b.outcome.push_back(random.normal());
      for (int32_t t = 0; t < length; ++t) b.generated.push_back(random.uniform() < 0.6);
      for (int64_t r = random.below(3); r > 0; --r) {
        const int32_t c0 = start + static_cast<int32_t>(random.below(length));
        const int32_t c1 = c0 + static_cast<int32_t>(random.below(start + length - c0 + 1));
        const int32_t i0 = c0 + static_cast<int32_t>(random.below(c1 - c0 + 1));
        const int32_t i1 = i0 + static_cast<int32_t>(random.below(c1 - i0 + 1));
        b.reads.push_back({c0, c1, i0, i1, random.uniform() < 0.3 ? 0.f : random.normal()});
      }
    }
    const Mask m = run(b);
    double execution = 0, selection = 0, kl = 0;
    for (size_t t = 0; t < b.generated.size(); ++t) {
      EXPECT(b.generated[t] || (m.channel[t] == 0 && m.weight[t] == 0 && m.kl_weight[t] == 0));
      if (m.channel[t] == 1) execution += m.weight[t];
      if (m.channel[t] == 2) selection += m.weight[t];
      if (m.channel[t] == 2) EXPECT(m.advantage[t] != 0);
      kl += m.kl_weight[t];
    }
    EXPECT(execution == 0 || std::abs(execution - 1) < 1e-5);
    EXPECT(selection == 0 || std::abs(selection - b.coefficient) < 1e-5);
    EXPECT(kl == 0 || std::abs(kl - 1) < 1e-5);
  }
}

}  // namespace skillgate::test
