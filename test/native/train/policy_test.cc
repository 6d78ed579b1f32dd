#include "train/policy.h"

#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "backend/status.h"
#include "check.h"
#include "model/tiny_model.h"
#include "scratch_folder.h"
#include "train/policy_batch.h"

using namespace skillgate;
using namespace skillgate::test;

TEST(the_same_tokens_have_the_same_logprob) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  const Batch all = random_batch(5);
  auto policy = open(folder);
  const std::vector<float> packed = logprobs(*policy, all);
  EXPECT(logprobs(*open(folder, 1, false), all) == packed);  // prefixes not shared
  EXPECT(logprobs(*open(folder, 2), all) == packed);
  EXPECT(logprobs(*open(folder, 4, false), all) == packed);
  for (size_t s = 0; s + 1 < all.offsets.size(); s++) {  // alone
    Batch one;
    one.add({all.tokens.begin() + all.offsets[s], all.tokens.begin() + all.offsets[s + 1]});
    const std::vector<float> alone = logprobs(*policy, one);
    EXPECT(std::equal(alone.begin(), alone.end(), packed.begin() + all.offsets[s]));
  }
  const Accumulated a = accumulate(*policy, all);
  for (size_t t = 0; t < packed.size(); t++)
    EXPECT(a.logprob[t] == (all.weight[t] != 0 || all.kl_weight[t] != 0 ? packed[t] : 0.f));
}

TEST(gradients_do_not_depend_on_how_they_are_computed) {
  for (const char* type : {"llama", "qwen2", "qwen3"}) {
    ScratchFolder folder;
    TinyModel model;
    model.model_type = type;
    model.tied = std::string(type) != "qwen2";
    model.write(folder.path());
    const Batch b = random_batch(9);
    auto plain = open(folder, 1, false), shared = open(folder, 1, true), again = open(folder, 1, true, true);
    auto threaded = open(folder, 3, true);
    accumulate(*plain, b);
    accumulate(*shared, b);
    accumulate(*again, b);
    accumulate(*threaded, b);
    const Tensors g = read_all(*shared, true);
    EXPECT(distance(read_all(*plain, true), g) < 1e-6);
    EXPECT(read_all(*again, true) == g);     // recomputed activations: bit for bit
    EXPECT(read_all(*threaded, true) == g);  // more threads: bit for bit

    // One sequence at a time.
    auto split = open(folder);
    for (size_t s = 0; s + 1 < b.offsets.size(); s++) {
      Batch one;
      auto part = [&](const std::vector<float>& v) {
        return std::vector<float>(v.begin() + b.offsets[s], v.begin() + b.offsets[s + 1]);
      };
      one.add({b.tokens.begin() + b.offsets[s], b.tokens.begin() + b.offsets[s + 1]});
      one.advantage = part(b.advantage);
      one.weight = part(b.weight);
      one.kl_weight = part(b.kl_weight);
      one.behaviour = part(b.behaviour);
      one.reference = part(b.reference);
      accumulate(*split, one);
    }
    EXPECT(distance(read_all(*split, true), g) < 1e-6);
  }
}

TEST(fields_of_tokens_without_weight_change_no_bit) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  const Batch b = random_batch(13);
  auto clean = open(folder), poisoned = open(folder);
  const PolicyLossResult expected = accumulate(*clean, b).loss;
  for (float poison : {NAN, INFINITY, -INFINITY, 200.f, -200.f}) {
    Batch p = b;
    for (size_t t = 0; t < p.tokens.size(); t++) {
      if (p.weight[t] == 0) p.advantage[t] = p.behaviour[t] = poison;
      if (p.kl_weight[t] == 0) p.reference[t] = poison;
    }
    poisoned->zero_gradients();
    const PolicyLossResult got = accumulate(*poisoned, p).loss;
    EXPECT(got.loss == expected.loss && got.kl_loss == expected.kl_loss);
    EXPECT(read_all(*poisoned, true) == read_all(*clean, true));
  }
}

TEST(a_step_is_the_same_at_any_thread_count_and_survives_saving) {
  ScratchFolder folder, saved;
  TinyModel{}.write(folder.path());
  const Batch b = random_batch(21);
  auto one = open(folder, 1), four = open(folder, 4);
  StepOptions step;
  step.learning_rate = 1e-2f;
  for (int i = 0; i < 2; i++) {
    accumulate(*one, b);
    accumulate(*four, b);
    EXPECT(one->step(step).grad_norm == four->step(step).grad_norm);
  }
  EXPECT(read_all(*one, false) == read_all(*four, false));
  one->save(saved.path());
  one->save_optimizer(saved.path() + "/optimizer");
  auto back = open(saved);
  EXPECT(read_all(*back, false) == read_all(*one, false));
  back->load_optimizer(saved.path() + "/optimizer");
  EXPECT(back->optimizer_steps() == 2);
  accumulate(*one, b);
  accumulate(*back, b);
  one->step(step);
  back->step(step);
  EXPECT(read_all(*back, false) == read_all(*one, false));
}

TEST(a_step_with_a_norm_that_is_not_finite_changes_nothing) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  auto policy = open(folder);
  const Tensors before = read_all(*policy, false);
  Batch b = random_batch(2);
  for (float& a : b.advantage) a = 1e38f;
  for (float& w : b.weight) w *= 1e6f;
  accumulate(*policy, b);
  EXPECT(policy->step({}).skipped);
  EXPECT(policy->optimizer_steps() == 0);
  EXPECT(read_all(*policy, false) == before);
  EXPECT(policy->step({}).grad_norm == 0);
}

TEST(generation_repeats_what_scoring_says) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  auto policy = open(folder, 2);
  std::mt19937 random(17);
  const Batch prompts = random_batch(31);
  std::map<uint64_t, GenerateRequest> requests;
  std::map<uint64_t, GenerateResult> first;
  // The same requests under different company, chunk sizes and thread counts.
  for (int round = 0; round < 5; round++) {
    auto p =
        open(folder, 1 + round % 3, true, false, round == 0 ? 512 : 1 + static_cast<int64_t>(random() % 40));
    Generator& g = p->generator();
    std::map<uint64_t, GenerateResult> results;
    uint64_t submitted = 0;
    const uint64_t n = prompts.offsets.size() - 1;
    while (submitted < n || !g.idle()) {
      const uint64_t more = round == 0 ? n : random() % 3;
      for (uint64_t k = 0; k < more && submitted < n; k++, submitted++) {
        GenerateRequest r;
        r.id = submitted;
        r.tokens.assign(prompts.tokens.begin() + prompts.offsets[submitted],
                        prompts.tokens.begin() + prompts.offsets[submitted + 1]);
        r.max_tokens = 3 + static_cast<int64_t>(submitted % 40);
        r.sample.temperature = submitted % 3 == 0 ? 0.7f : 1.f;
        r.sample.top_k = submitted % 4 == 1 ? 20 : 0;
        r.sample.top_p = submitted % 4 == 2 ? 0.9f : 1.f;
        r.sample.seed = submitted;
        r.stop_tokens = {5, 77};
        requests[submitted] = r;
        g.submit(std::move(r));
      }
      for (GenerateResult& r : g.advance()) results[r.id] = std::move(r);
    }
    EXPECT(results.size() == n);
    if (round == 0) first = results;
    for (auto& [id, r] : results) {
      EXPECT(r.tokens == first[id].tokens);
      EXPECT(r.logprobs == first[id].logprobs);
    }
  }
  for (auto& [id, r] : first) {
    Batch whole;
    std::vector<int32_t> s = requests[id].tokens;
    const size_t prompt = s.size();
    s.insert(s.end(), r.tokens.begin(), r.tokens.end());
    whole.add(s);
    const std::vector<float> scored = logprobs(*policy, whole, requests[id].sample.temperature);
    EXPECT(std::equal(r.logprobs.begin(), r.logprobs.end(),
                      scored.begin() + static_cast<std::ptrdiff_t>(prompt)));
    const bool stopped = r.tokens.back() == 5 || r.tokens.back() == 77;
    EXPECT((r.reason == FinishReason::stop) == stopped);
    EXPECT(stopped || static_cast<int64_t>(r.tokens.size()) == requests[id].max_tokens);
  }
}

TEST(sessions_keep_fork_and_forget_their_cache) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  auto policy = open(folder);
  Generator& g = policy->generator();
  auto run = [&](int64_t session, std::vector<int32_t> tokens, uint64_t seed) {
    GenerateRequest r;
    r.session = session;
    r.tokens = std::move(tokens);
    r.max_tokens = 9;
    r.sample.seed = seed;
    g.submit(std::move(r));
    std::vector<GenerateResult> done;
    while (done.empty()) done = g.advance();
    return done[0];
  };
  std::mt19937 random(1);
  std::vector<int64_t> open_sessions{g.open_session()};
  std::vector<std::vector<int32_t>> context{{1, 2, 3}};
  for (int i = 0; i < 60; i++) {
    const size_t k = random() % open_sessions.size();
    if (random() % 4 == 0) {
      open_sessions.push_back(g.fork_session(open_sessions[k]));
      context.push_back(context[k]);
      continue;
    }
    std::vector<int32_t>& c = context[k];
    if (random() % 5 == 0) c.resize(1 + random() % c.size());  // the context was rewritten
    const size_t more = random() % 50;
    for (size_t j = 0; j < more; j++) c.push_back(static_cast<int32_t>(random() % 113));
    if (c.size() > 480) c.resize(20);
    const uint64_t seed = random();
    const GenerateResult with = run(open_sessions[k], c, seed), without = run(-1, c, seed);
    EXPECT(with.tokens == without.tokens);
    EXPECT(with.logprobs == without.logprobs);
    c.insert(c.end(), with.tokens.begin(), with.tokens.end());
    if (random() % 10 == 0) g.forget();
  }
  EXPECT_FAILURE("ERR_UNKNOWN_SESSION", g.close_session(999));
  for (int64_t s : open_sessions) g.close_session(s);
  EXPECT_FAILURE("ERR_UNKNOWN_SESSION", g.fork_session(open_sessions[0]));
}

TEST(generation_refuses_and_aborts) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  auto policy = open(folder);
  Generator& g = policy->generator();
  auto request = [](std::vector<int32_t> tokens, int64_t session = -1, int64_t max_tokens = 5) {
    GenerateRequest r;
    r.id = 7;
    r.tokens = std::move(tokens);
    r.session = session;
    r.max_tokens = max_tokens;
    return r;
  };
  EXPECT_FAILURE("ERR_INVALID_TOKEN", g.submit(request({})));
  EXPECT_FAILURE("ERR_INVALID_TOKEN", g.submit(request({113})));
  EXPECT_FAILURE("ERR_INVALID_TOKEN", g.submit(request({-1})));
  EXPECT_FAILURE("ERR_CONTEXT_LENGTH", g.submit(request(std::vector<int32_t>(512, 1))));
  EXPECT_FAILURE("ERR_UNKNOWN_SESSION", g.submit(request({1}, 55)));
  EXPECT_FAILURE("ERR_OUT_OF_RANGE", g.submit(request({1}, -1, 0)));
  EXPECT(g.idle());
  const int64_t s = g.open_session();
  g.submit(request({1, 2}, s, 1000));
  EXPECT_FAILURE("ERR_BUSY", g.submit(request({1}, s)));
  EXPECT_FAILURE("ERR_BUSY", g.close_session(s));
  EXPECT_FAILURE("ERR_BUSY", g.fork_session(s));
  for (int i = 0; i < 4; i++) EXPECT(g.advance().empty());
  g.abort(7);
  const std::vector<GenerateResult> done = g.advance();
  EXPECT(done.size() == 1 && done[0].reason == FinishReason::aborted && done[0].tokens.size() == 4);
  EXPECT(g.idle());
  // The context ends where the model's positions end.
  g.submit(request(std::vector<int32_t>(505, 3), -1, 1000));
  std::vector<GenerateResult> full;
  while (full.empty()) full = g.advance();
  EXPECT(full[0].reason == FinishReason::length && full[0].tokens.size() == 7);
}

TEST(loading_refuses_what_does_not_fit) {
  ScratchFolder folder;
  TinyModel model;
  model.write(folder.path());
  const std::string config = folder.path() + "/config.json";
  TinyModel wider = model;
  wider.F = 96;
  write_file(config, wider.config());
  EXPECT_FAILURE("ERR_SHAPE", open(folder));
  TinyModel deeper = model;
  deeper.L = 4;
  write_file(config, deeper.config());
  EXPECT_FAILURE("ERR_MISSING_TENSOR", open(folder));
  TinyModel shallower = model;
  shallower.L = 2;
  write_file(config, shallower.config());
  EXPECT_FAILURE("ERR_UNEXPECTED_TENSOR", open(folder));
  write_file(config, std::string_view("{"));
  EXPECT_FAILURE("ERR_MODEL_CONFIG", open(folder));
  EXPECT_FAILURE("ERR_MODEL_CONFIG", Policy::load("/nowhere", {}));
}

TEST(a_policy_refuses_wrong_calls) {
  ScratchFolder folder;
  TinyModel{}.write(folder.path());
  auto policy = open(folder);
  Batch b = random_batch(2);
  b.weight[0] = 1;
  EXPECT_FAILURE("ERR_FIRST_TOKEN_WEIGHT", accumulate(*policy, b));
  Batch far;
  far.add(std::vector<int32_t>(513, 1));
  EXPECT_FAILURE("ERR_CONTEXT_LENGTH", logprobs(*policy, far));
  float out[1];
  EXPECT_FAILURE("ERR_UNKNOWN_PARAMETER", policy->read_parameter("nothing", out));
  EXPECT_FAILURE("ERR_SAFETENSORS", policy->load_optimizer(folder.path() + "/model.safetensors"));
  const std::atomic<bool> stop{true};
  const Batch fine = random_batch(2);
  std::vector<float> lp(fine.tokens.size());
  EXPECT_FAILURE("ERR_ABORTED", policy->logprobs(fine.sequences(), 1, lp.data(), nullptr, &stop));
  PolicyOptions o;
  o.trainable = false;
  auto fixed = Policy::load(folder.path(), o);
  EXPECT_FAILURE("ERR_NOT_TRAINABLE", accumulate(*fixed, fine));
  EXPECT_FAILURE("ERR_NOT_TRAINABLE", fixed->step({}));
}
