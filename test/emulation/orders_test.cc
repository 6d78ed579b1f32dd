// Every op, in fp32 and bf16: ten orders of blocks and threads give the same bits. Built with ThreadSanitizer one order tells as much: a
// race is found whatever came first.
#include <cmath>
#include <functional>

#include "check.h"
#include "device_fixture.h"
#include "emulator/sanitizers.h"
#include "host_memory_backend.h"
#include "model/token_rows.h"
#include "reference.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

constexpr uint64_t kOrders = EMULATION_THREAD_SANITIZER ? 1 : 10;

// Inputs that depend on the place alone, and outputs that are kept to be compared.
class Arrays {
 public:
  Tensor in(std::initializer_list<int64_t> shape, float scale = 1.f) {
    return add(shape, [&](int64_t) { return scale * random_.normal(); });
  }
  Tensor out(std::initializer_list<int64_t> shape) {
    outputs_.push_back(arrays_.size());
    return add(shape, [&](int64_t) { return 0.25f; });
  }
  Tensor ids(std::initializer_list<int64_t> shape, int64_t below) {
    Tensor t = add(shape, [](int64_t) { return 0.f; });
    t.dtype = DType::i32;
    for (int64_t i = 0; i < t.count(); i++) t.i32()[i] = static_cast<int32_t>(random_.below(below));
    return t;
  }
  Floats results() const {
    Floats all;
    for (size_t i : outputs_) all.insert(all.end(), arrays_[i].begin(), arrays_[i].end());
    return all;
  }

 private:
  template <class Value>
  Tensor add(std::initializer_list<int64_t> shape, Value value) {
    Tensor t(nullptr, DType::f32, shape);
    Floats x;
    for (int64_t i = 0; i < t.count(); i++) x.push_back(value(i));
    arrays_.push_back(std::move(x));
    t.data = arrays_.back().data();
    return t;
  }

  Random random_{7};
  std::vector<Floats> arrays_;
  std::vector<size_t> outputs_;
};

void append(Floats& all, std::initializer_list<double> values) {
  for (double v : values) all.push_back(static_cast<float>(v));
}

struct Op {
  std::string name;
  std::function<Floats(Backend&)> run;
};

// An op whose results are its output tensors.
Op op(const std::string& name, const std::function<void(Backend&, Arrays&)>& run) {
  return {name, [run](Backend& backend) {
            Arrays arrays;
            run(backend, arrays);
            return arrays.results();
          }};
}

Floats attention(Backend& b, int64_t H, int64_t G, int64_t E) {
  SpanList spans;  // a prefix that two answers see; the second is longer than a tile
  spans.add_span(0, 20);
  spans.end_segment(20);
  int64_t row = 20;
  for (const int64_t n : {3, 70}) {
    spans.add_span(0, 20);
    spans.add_span(row, n);
    row += n;
    spans.end_segment(row);
  }
  const int64_t T = 93;
  Arrays a;
  const Tensor q = a.in({T, H, E}), k = a.in({T, G, E}), v = a.in({T, G, E}), d_o = a.in({T, H, E});
  const Tensor o = a.out({T, H, E}), lse = a.out({T, H});
  b.attention_forward(o, lse, q, k, v, spans.view(), 0.3f);
  b.attention_backward(a.out({T, H, E}), a.out({T, G, E}), a.out({T, G, E}), d_o, o, lse, q, k, v,
                       spans.view(), 0.3f);
  return a.results();
}

Floats policy_loss(Backend& b, int64_t R, int64_t V) {
  const int64_t D = 24;
  Arrays a;
  PolicyLossArgs args;
  args.hidden = a.in({R, D});
  args.lm_head = a.in({V, D}, 0.2f);
  args.d_hidden = a.out({R, D});
  args.d_lm_head = a.out({V, D});
  const Tensor target = a.ids({R}, V), advantage = a.in({R}), weight = a.in({R});
  weight.f32()[R / 2] = 0.f;
  args.target = target.i32();
  args.advantage = advantage.f32();
  args.weight = args.kl_weight = weight.f32();
  args.kl_coefficient = 0.1f;
  const Tensor reference = a.in({R});
  args.reference_logprob = reference.f32();
  const Tensor logprob = a.out({R}), entropy = a.out({R});
  args.logprob = logprob.f32();
  args.entropy = entropy.f32();
  const PolicyLossResult result = b.policy_loss(args);
  Floats all = a.results();
  append(all, {result.loss, result.kl_loss});
  return all;
}

Floats sample(Backend& b, int64_t V) {
  Arrays a;
  const int64_t R = 4;
  const Tensor logits = a.in({R, V}, 2.f), logprob = a.out({R});
  SampleOptions options[R];
  options[1].top_k = 20;
  options[2].top_p = 0.7f;
  options[3].min_p = 0.1f;
  int32_t token[R];
  b.sample(token, logprob.f32(), logits, options);
  Floats all = a.results();
  for (int32_t t : token) append(all, {double(t)});
  return all;
}

Floats token_mask(Backend& b) {
  const int64_t T = 700;
  std::vector<uint8_t> generated(T), channel(T);
  for (int64_t t = 0; t < T; t++) generated[static_cast<size_t>(t)] = t % 5 != 0;
  const int32_t offsets[] = {0, 300, 700}, call_start[] = {10, 40, 320}, call_end[] = {60, 90, 600};
  const int32_t identity_start[] = {20, 30, 330}, identity_end[] = {50, 80, 560};
  const float outcome[] = {1.f, -0.5f}, read[] = {0.5f, -1.f, 2.f};
  Arrays a;
  TokenMaskArgs args;
  args.tokens = T;
  args.sequences = 2;
  args.reads = 3;
  args.sequence_offsets = offsets;
  args.generated = generated.data();
  args.outcome_advantage = outcome;
  args.call_start = call_start;
  args.call_end = call_end;
  args.identity_start = identity_start;
  args.identity_end = identity_end;
  args.read_advantage = read;
  args.selector_coefficient = 0.2;
  args.channel = channel.data();
  args.advantage = a.out({T}).f32();
  args.weight = a.out({T}).f32();
  args.kl_weight = a.out({T}).f32();
  const int64_t count = b.token_mask(args);
  Floats all = a.results();
  append(all, {double(count)});
  all.insert(all.end(), channel.begin(), channel.end());
  return all;
}

std::vector<Op> ops() {
  return {
      op("embedding",
         [](Backend& b, Arrays& a) {
           const Tensor table = a.in({30, 40}), tokens = a.ids({50}, 30), y = a.out({50, 40});
           b.embedding_forward(y, table, tokens);
           b.embedding_backward(a.out({30, 40}), y, tokens);
         }),
      op("rmsnorm",
         [](Backend& b, Arrays& a) {
           const Tensor x = a.in({20, 130}), w = a.in({130}), y = a.out({20, 130}), rstd = a.out({20});
           b.rmsnorm_forward(y, rstd, x, w, 1e-6f);
           b.rmsnorm_backward(a.out({20, 130}), a.out({130}), y, x, w, rstd, true);
         }),
      op("matmul",
         [](Backend& b, Arrays& a) {
           const int64_t T = 70, N = 90, K = 72;
           const Tensor x = a.in({T, K}), w = a.in({N, K}), bias = a.in({N}), y = a.out({T, N});
           b.linear_forward(y, x, w, nullptr, bias);
           b.linear_backward_input(a.out({T, K}), y, w, nullptr, true);
           b.linear_backward_weight(a.out({N, K}), a.out({N}), y, x);
         }),
      op("rope",
         [](Backend& b, Arrays& a) {
           const Tensor x = a.out({9, 3, 16}), cosine = a.in({12, 8}), sine = a.in({12, 8});
           b.rope(x, cosine, sine, a.ids({9}, 12), false);
         }),
      {"attention", [](Backend& b) { return attention(b, 6, 2, 8); }},
      {"attention of wide heads", [](Backend& b) { return attention(b, 2, 1, 136); }},
      op("swiglu",
         [](Backend& b, Arrays& a) {
           const Tensor gate = a.in({9, 300}), up = a.in({9, 300}), y = a.out({9, 300});
           b.swiglu_forward(y, gate, up);
           b.swiglu_backward(a.out({9, 300}), a.out({9, 300}), y, gate, up);
         }),
      op("rows",
         [](Backend& b, Arrays& a) {
           const Tensor x = a.in({30, 40}), index = a.ids({50}, 30), y = a.out({50, 40});
           b.gather_rows(y, x, index);
           b.scatter_add_rows(a.out({30, 40}), y, index);
           b.add(y, y);
         }),
      {"token_mask", token_mask},
      {"policy_loss", [](Backend& b) { return policy_loss(b, 9, 300); }},
      {"sampling", [](Backend& b) { return sample(b, 500); }},
      {"grad_norm",
       [](Backend& b) {
         Arrays a;
         double sum = 0;
         b.sum_of_squares(Tensor(&sum, DType::f64, {1}), a.in({30000}));
         return Floats{static_cast<float>(sum)};
       }},
      op("adamw",
         [](Backend& b, Arrays& a) {
           AdamWOptions options;
           options.step = 1;
           options.max_grad_norm = 1;
           const Tensor w = a.out({600}), m = a.out({600}), v = a.out({600});
           double squares = 9;
           b.adamw(w, a.in({600}), m, v, Tensor(&squares, DType::f64, {1}), options);
         }),
  };
}

void expect_one_result(const std::vector<Op>& all) {
  SettingsGuard guard;
  for (const char* precision : {"fp32", "bf16"})
    for (const Op& o : all) {
      check::Scope scope(o.name + " " + precision);
      emulation::settings().seed = 1;
      const Floats first = o.run(*with_host_memory(open_cuda(precision)));
      for (const float x : first) EXPECT(std::isfinite(x));
      for (uint64_t seed = 2; seed <= kOrders; seed++) {
        emulation::settings().seed = seed;
        EXPECT(same_bits(o.run(*with_host_memory(open_cuda(precision))), first));
      }
    }
  expect_no_faults();
}

void expect_one_result(const std::string& name) {
  std::vector<Op> named = ops();
  std::erase_if(named, [&](const Op& o) { return o.name != name; });
  EXPECT_EQ(named.size(), size_t{1});
  expect_one_result(named);
}

}  // namespace

TEST(embedding) {
  expect_one_result("embedding");
}
TEST(rmsnorm) {
  expect_one_result("rmsnorm");
}
TEST(matmul) {
  expect_one_result("matmul");
}
TEST(rope) {
  expect_one_result("rope");
}
TEST(attention) {
  expect_one_result("attention");
}
TEST(attention_of_wide_heads) {
  expect_one_result("attention of wide heads");
}
TEST(swiglu) {
  expect_one_result("swiglu");
}
TEST(rows) {
  expect_one_result("rows");
}
TEST(token_mask) {
  expect_one_result("token_mask");
}
TEST(policy_loss) {
  expect_one_result("policy_loss");
}
TEST(sampling) {
  expect_one_result("sampling");
}
TEST(grad_norm) {
  expect_one_result("grad_norm");
}
TEST(adamw) {
  expect_one_result("adamw");
}

// With so little shared memory a row is cut over the blocks of a cluster.
TEST(rows_of_a_cluster) {
  SettingsGuard guard;
  emulation::settings().reported_shared = 4 << 10;
  expect_one_result({{"policy_loss", [](Backend& b) { return policy_loss(b, 3, 1500); }},
                     {"sampling", [](Backend& b) { return sample(b, 1500); }}});
}
