// What a pass computes, counted in floating-point operations of its matrix products.
#include "check.h"
#include "model/tiny_model.h"
#include "train/policy_batch.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

// Multiply-adds a row of one layer: what attention needs, and what follows it.
int64_t before_attention(const ModelConfig& c) {
  return c.D * (c.H + 2 * c.G) * c.E;
}
int64_t after_attention(const ModelConfig& c) {
  return c.H * c.E * c.D + 3 * c.D * c.F;
}

// A forward pass over `rows` rows, of which `wanted` predict something.
int64_t decoder_flop(const ModelConfig& c, int64_t rows, int64_t wanted) {
  return 2 * (c.L * before_attention(c) * rows + after_attention(c) * ((c.L - 1) * rows + wanted));
}

// Forward and the two products of the backward pass; of the head, those of `sloped` of the `scored` tokens.
int64_t update_flop(const ModelConfig& c, int64_t rows, int64_t wanted, int64_t scored, int64_t sloped) {
  return 3 * decoder_flop(c, rows, wanted) + 2 * c.D * c.V * (scored + 2 * sloped);
}

int64_t work(Policy& policy, const Batch& b) {
  const int64_t before = policy.flop();
  accumulate(policy, b);
  return policy.flop() - before;
}

// One sequence of `tokens` random tokens, every `every`-th of which carries loss.
Batch sparse(int tokens, int every) {
  Batch b;
  std::vector<int32_t> sequence;
  for (int t = 0; t < tokens; t++) sequence.push_back(static_cast<int32_t>((t * 37 + t / 7) % 113));
  b.add(sequence);
  for (int t = 0; t < tokens; t++) {
    b.weight.push_back(t > 0 && t % every == 0 ? 1.f / 64 : 0.f);
    b.advantage.push_back(1);
    b.kl_weight.push_back(0);
    b.behaviour.push_back(-4.7f);
    b.reference.push_back(-4.7f);
  }
  return b;
}

}  // namespace

TEST(tokens_without_loss_never_meet_the_head) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  auto policy = open(folder);
  const int tokens = 401;
  for (const int every : {1, 2, 4, 10}) {
    const int64_t R = (tokens - 1) / every;
    const Batch b = sparse(tokens, every);
    // Where the ratio is clipped a row has no gradient and takes no part in the last two products.
    Accumulated a;
    const int64_t before = policy->flop();
    accumulate(*policy, b, a);
    int64_t clipped = 0;
    for (const uint8_t c : a.clipped) clipped += c;
    EXPECT(clipped > 0 && clipped < R);
    EXPECT_EQ(policy->flop() - before, update_flop(policy->config(), tokens, R, R, R - clipped));
  }
}

TEST(a_common_prefix_is_computed_once_a_group) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  auto shared = open(folder, 1, true), plain = open(folder, 1, false);
  const ModelConfig& c = shared->config();
  const int prompt = 60, answer = 9, rollouts = 8;
  Batch b;
  for (int k = 0; k < rollouts; k++) {
    std::vector<int32_t> sequence;
    for (int t = 0; t < prompt; t++) sequence.push_back(t % 113);
    for (int t = 0; t < answer; t++) sequence.push_back((k * 17 + t * 5 + 1) % 113);
    b.add(sequence);
    for (int t = 0; t < prompt + answer; t++) {
      b.weight.push_back(t < prompt ? 0.f : 1.f);
      b.advantage.push_back(1);
      b.kl_weight.push_back(0);
      b.behaviour.push_back(-4.7f);
      b.reference.push_back(-4.7f);
    }
  }
  for (float& x : b.behaviour) x = -20;  // ratio above the clip: with a negative advantage it has a gradient
  for (float& x : b.advantage) x = -1;
  const int64_t scored = rollouts * answer;
  EXPECT_EQ(work(*shared, b), update_flop(c, prompt + scored, 1 + rollouts * (answer - 1), scored, scored));
  EXPECT_EQ(work(*plain, b), update_flop(c, rollouts * (prompt + answer), scored, scored, scored));
}

TEST(late_branches_share_all_turns_before) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  auto policy = open(folder);
  // Three sequences: the second leaves the first at 70, the third leaves the second at 85.
  std::vector<int32_t> s;
  for (int t = 0; t < 100; t++) s.push_back((t * 3 + 1) % 113);
  Batch b;
  b.add(s);
  for (int t = 70; t < 100; t++) s[static_cast<size_t>(t)] = (t * 5 + 2) % 113;
  b.add(s);
  for (int t = 85; t < 100; t++) s[static_cast<size_t>(t)] = (t * 7 + 2) % 113;
  b.add(s);
  std::vector<float> out(b.tokens.size());
  const ModelConfig& c = policy->config();
  auto flop = [&](const uint8_t* wanted) {
    const int64_t before = policy->flop();
    policy->logprobs(b.sequences(), 1, out.data(), nullptr, nullptr, wanted);
    return policy->flop() - before;
  };
  // The last token of a sequence predicts nothing.
  EXPECT_EQ(flop(nullptr), decoder_flop(c, 100 + 30 + 15, 99 + 29 + 14) + 2 * c.D * c.V * 3 * 99);
  const std::vector<float> all = out;
  // The last five tokens of each sequence alone.
  std::vector<uint8_t> wanted(b.tokens.size(), 0);
  for (size_t t = 0; t < wanted.size(); t++) wanted[t] = t % 100 >= 95;
  EXPECT_EQ(flop(wanted.data()), decoder_flop(c, 100 + 30 + 15, 3 * 5) + 2 * c.D * c.V * 3 * 5);
  for (size_t t = 0; t < out.size(); t++) EXPECT(out[t] == (wanted[t] ? all[t] : 0.f));
}
