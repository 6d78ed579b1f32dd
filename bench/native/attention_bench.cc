#include <cmath>

#include "backend/status.h"
#include "bench_case.h"

namespace skillgate::bench {
namespace {

constexpr int64_t kPage = 32;  // rows of a cache page, as model/kv_cache.h has it

struct Spans {
  std::vector<int64_t> segments{0}, offsets{0}, row, count;
  AttentionSpans view() const {
    return {static_cast<int64_t>(segments.size()) - 1, segments.data(), offsets.data(), row.data(),
            count.data()};
  }
};

}  // namespace

// S packed sequences of n tokens (forward, backward), or one query each of S sequences with n keys in cache
// pages (decode).
Case make_attention(const Spec& spec, Backend& backend, int) {
  const int64_t S = spec.size("S"), n = spec.size("n"), H = spec.size("H"), G = spec.size("G");
  const int64_t E = spec.size("E");
  const std::string pass = spec.text("pass", "forward");
  const bool decode = pass == "decode";
  const int64_t T = decode ? S : S * n, pages = (n + kPage - 1) / kPage;
  const int64_t rows = decode ? S * pages * kPage : T;
  auto spans = std::make_shared<Spans>();
  for (int64_t s = 0; s < S; ++s) {
    spans->segments.push_back(decode ? s + 1 : (s + 1) * n);
    for (int64_t p = 0; p < (decode ? pages : 1); ++p) {
      spans->row.push_back(decode ? ((S - 1 - s) * pages + p) * kPage : s * n);
      spans->count.push_back(decode ? std::min(kPage, n - p * kPage) : n);
    }
    spans->offsets.push_back(static_cast<int64_t>(spans->row.size()));
  }
  const Buffer q(T * H * E, 1, 1.f), k(rows * G * E, 2, 1.f), v(rows * G * E, 3, 1.f), o(T * H * E),
      lse(T * H);
  const float scale = 1.f / std::sqrt(static_cast<float>(E));
  auto heads = [=](const Buffer& x) { return x.tensor({T, H, E}); };
  auto groups = [=](const Buffer& x) { return x.tensor({rows, G, E}); };
  const double pairs = decode ? double(S) * n : double(S) * n * (n + 1) / 2;
  Case c;
  c.shape = pass + " S " + std::to_string(S) + " n " + std::to_string(n) + " H " + std::to_string(H) + " G " +
            std::to_string(G) + " E " + std::to_string(E);
  c.flop = 4.0 * pairs * H * E;
  c.bytes = 4.0 * (2.0 * T * H * E + 2.0 * (decode ? S * n : rows) * G * E);
  auto forward = [=, &backend] {
    backend.attention_forward(heads(o), lse.tensor({T, H}), heads(q), groups(k), groups(v), spans->view(),
                              scale);
  };
  if (pass != "backward") {
    if (!decode && pass != "forward") {
      throw Failure("ERR_BENCH", "attention: expected the pass forward, backward or decode, got " + pass);
    }
    c.run = forward;
    return c;
  }
  forward();
  const Buffer d_o(T * H * E, 4, 1.f), dq(T * H * E), dk(rows * G * E), dv(rows * G * E);
  c.flop *= 2.5;  // five products where the forward pass has two
  c.bytes *= 2;
  c.run = [=, &backend] {
    backend.attention_backward(heads(dq), groups(dk), groups(dv), heads(d_o), heads(o), lse.tensor({T, H}),
                               heads(q), groups(k), groups(v), spans->view(), scale);
  };
  return c;
}

}  // namespace skillgate::bench
