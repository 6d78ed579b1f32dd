#include <cmath>
#include <limits>

#include "check.h"
#include "op_cases.h"

namespace skillgate::test {
namespace {

// Segments as lists of (row, count) runs of keys; the queries of segment s are rows of q in order.
struct Layout {
  std::string name;
  std::vector<int64_t> queries;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> keys;
  int64_t rows;  // of k and v

  int64_t T() const {
    int64_t n = 0;
    for (int64_t q : queries) n += q;
    return n;
  }
};

struct Spans {
  explicit Spans(const Layout& l) {
    for (size_t s = 0; s < l.queries.size(); ++s) {
      segment.push_back(segment.back() + l.queries[s]);
      for (const auto& [first, n] : l.keys[s]) {
        row.push_back(first);
        count.push_back(n);
      }
      span.push_back(static_cast<int64_t>(row.size()));
    }
    view = {static_cast<int64_t>(l.queries.size()), segment.data(), span.data(), row.data(), count.data()};
  }
  std::vector<int64_t> segment{0}, span{0}, row, count;
  AttentionSpans view;
};

std::vector<Layout> layouts() {
  return {
      {"one token", {1}, {{{0, 1}}}, 1},
      {"packed", {17, 1, 64, 131}, {{{0, 17}}, {{17, 1}}, {{18, 64}}, {{82, 131}}}, 213},
      {"shared prefix",
       {70, 9, 30, 1},
       {{{0, 70}}, {{0, 70}, {70, 9}}, {{0, 70}, {79, 30}}, {{0, 70}, {109, 1}}},
       110},
      {"prefix of a prefix", {20, 40, 5}, {{{0, 20}}, {{0, 20}, {20, 40}}, {{0, 20}, {20, 33}, {60, 5}}}, 65},
      {"a row at two positions", {3, 4}, {{{5, 70}, {80, 3}}, {{40, 35}, {83, 4}}}, 90},
      {"pages",
       {1, 1, 3},
       {{{64, 32}, {0, 32}, {96, 7}}, {{32, 11}}, {{128, 32}, {160, 32}, {200, 32}, {103, 5}}},
       240},
      {"one long", {300}, {{{0, 300}}}, 300},
      {"last of many", {5}, {{{0, 195}, {195, 5}}}, 200},
  };
}

const std::vector<Shape> kHeads = {{.H = 1, .G = 1, .E = 2},   {.H = 4, .G = 2, .E = 8},
                                   {.H = 2, .G = 2, .E = 16},  {.H = 6, .G = 2, .E = 22},
                                   {.H = 15, .G = 1, .E = 32}, {.H = 2, .G = 1, .E = 64},
                                   {.H = 2, .G = 1, .E = 50},  {.H = 1, .G = 1, .E = 256}};

struct Results {
  std::vector<float> o, lse, dq, dk, dv;
};

struct Problem : Results {
  Problem(const Problem&) = delete;
  Problem(const Layout& l, const Shape& s, uint64_t seed = 1) : layout(l), spans(l), shape(s) {
    Random r(seed);
    shape.T = l.T();
    scale = 1.f / std::sqrt(static_cast<float>(s.E));
    q = r.normals(shape.T * s.H * s.E, 2.f);
    k = r.normals(l.rows * s.G * s.E);
    v = r.normals(l.rows * s.G * s.E);
    d_o = r.normals(shape.T * s.H * s.E);
  }

  Tensor query_like(std::vector<float>& x) const {
    return Tensor(x.data(), DType::f32, {shape.T, shape.H, shape.E});
  }
  Tensor key_like(std::vector<float>& x) const {
    return Tensor(x.data(), DType::f32, {layout.rows, shape.G, shape.E});
  }

  void forward(Backend& b) {
    o.assign(q.size(), std::nanf(""));
    lse.assign(static_cast<size_t>(shape.T * shape.H), std::nanf(""));
    b.attention_forward(query_like(o), Tensor(lse.data(), DType::f32, {shape.T, shape.H}), query_like(q),
                        key_like(k), key_like(v), spans.view, scale);
  }
  void backward(Backend& b, int times = 1) {
    dq.assign(q.size(), std::nanf(""));
    dk.assign(k.size(), 0.f);
    dv.assign(v.size(), 0.f);
    for (int i = 0; i < times; ++i) {
      b.attention_backward(query_like(dq), key_like(dk), key_like(dv), query_like(d_o), query_like(o),
                           Tensor(lse.data(), DType::f32, {shape.T, shape.H}), query_like(q), key_like(k),
                           key_like(v), spans.view, scale);
    }
  }

  const Layout& layout;
  Spans spans;
  Shape shape;
  float scale;
  std::vector<float> q, k, v, d_o;
};

struct Reference {
  Doubles o, lse, dq, dk, dv;
};

Reference reference(const Problem& p, const Doubles& q, const Doubles& k, const Doubles& v, bool backward) {
  const auto [H, G, E] = std::tuple(p.shape.H, p.shape.G, p.shape.E);
  Reference r;
  r.o.resize(q.size());
  r.lse.resize(static_cast<size_t>(p.shape.T * H));
  r.dq.resize(q.size());
  r.dk.resize(k.size());
  r.dv.resize(v.size());
  int64_t t = 0;
  for (size_t s = 0; s < p.layout.queries.size(); ++s) {
    std::vector<int64_t> rows;
    for (const auto& [first, n] : p.layout.keys[s]) {
      for (int64_t i = 0; i < n; ++i) rows.push_back(first + i);
    }
    const int64_t n = p.layout.queries[s], L = static_cast<int64_t>(rows.size());
    for (int64_t i = 0; i < n; ++i, ++t) {
      for (int64_t h = 0; h < H; ++h) {
        const int64_t seen = L - n + i + 1, at = (t * H + h) * E;
        auto key = [&](int64_t j) { return (rows[j] * G + h * G / H) * E; };
        Doubles w(static_cast<size_t>(seen));
        double top = -1e300, sum = 0;
        for (int64_t j = 0; j < seen; ++j) {
          for (int64_t e = 0; e < E; ++e) w[j] += q[at + e] * k[key(j) + e];
          w[j] *= double{p.scale};
          top = std::max(top, w[j]);
        }
        for (double& x : w) sum += x = std::exp(x - top);
        r.lse[t * H + h] = top + std::log(sum);
        double delta = 0;
        for (int64_t e = 0; e < E; ++e) {
          for (int64_t j = 0; j < seen; ++j) r.o[at + e] += w[j] / sum * v[key(j) + e];
          delta += r.o[at + e] * p.d_o[at + e];
        }
        for (int64_t j = 0; j < seen && backward; ++j) {
          double dp = 0;
          for (int64_t e = 0; e < E; ++e) dp += p.d_o[at + e] * v[key(j) + e];
          const double ds = w[j] / sum * (dp - delta) * p.scale;
          for (int64_t e = 0; e < E; ++e) {
            r.dv[key(j) + e] += w[j] / sum * p.d_o[at + e];
            r.dq[at + e] += ds * k[key(j) + e];
            r.dk[key(j) + e] += ds * q[at + e];
          }
        }
      }
    }
  }
  return r;
}

Doubles times(Doubles x, double factor) {
  for (double& v : x) v *= factor;
  return x;
}

}  // namespace

TEST(forward_and_backward) {
  for (const Layout& layout : layouts()) {
    for (const Shape& heads : kHeads) {
      check::Scope scope(layout.name + " E=" + std::to_string(heads.E));
      Problem p(layout, heads);
      const Reference want = reference(p, widen(p.q), widen(p.k), widen(p.v), true);
      // With one key the gradients of q and k are exactly 0 and only rounding errors are left.
      const double least = layout.rows == 1 ? 10 * std::sqrt(static_cast<double>(heads.E)) : 0;
      for (const std::string& set : instruction_sets()) {
        Results first;
        for (int threads : {1, 2, 5}) {
          check::Scope which(set + ", threads " + std::to_string(threads));
          auto backend = open_cpu(set, threads);
          p.forward(*backend);
          p.backward(*backend);
          if (threads == 1) {
            EXPECT_NEAR(relative_distance(p.o.data(), want.o), 0, 1e-6);
            EXPECT_NEAR(relative_distance(p.lse.data(), want.lse), 0, 3e-6);
            EXPECT_NEAR(relative_distance(p.dq.data(), want.dq, least), 0, 3e-6);
            EXPECT_NEAR(relative_distance(p.dk.data(), want.dk, least), 0, 3e-6);
            EXPECT_NEAR(relative_distance(p.dv.data(), want.dv), 0, 3e-6);
            first = p;
            p.backward(*backend, 2);
            EXPECT_NEAR(relative_distance(p.dk.data(), times(want.dk, 2), least), 0, 3e-6);
            EXPECT_NEAR(relative_distance(p.dv.data(), times(want.dv, 2)), 0, 3e-6);
            EXPECT(same_bits(p.dq.data(), first.dq.data(), p.dq.size() * sizeof(float)));
            continue;
          }
          EXPECT(p.o == first.o);
          EXPECT(p.lse == first.lse);
          EXPECT(p.dq == first.dq);
          EXPECT(p.dk == first.dk);
          EXPECT(p.dv == first.dv);
        }
      }
    }
  }
}

TEST(the_reference_gradient_is_the_slope_of_the_reference) {
  const Layout layout = {"shared", {3, 2}, {{{0, 3}}, {{0, 2}, {3, 2}}}, 5};
  Problem p(layout, {.H = 2, .G = 1, .E = 4});
  const Doubles q = widen(p.q), k = widen(p.k), v = widen(p.v);
  const Reference r = reference(p, q, k, v, true);
  const Doubles dq =
      numeric_gradient([&](const Doubles& x) { return reference(p, x, k, v, false).o; }, q, p.d_o);
  const Doubles dk =
      numeric_gradient([&](const Doubles& x) { return reference(p, q, x, v, false).o; }, k, p.d_o);
  const Doubles dv =
      numeric_gradient([&](const Doubles& x) { return reference(p, q, k, x, false).o; }, v, p.d_o);
  for (size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(r.dq[i], dq[i], 1e-6);
  for (size_t i = 0; i < k.size(); ++i) EXPECT_NEAR(r.dk[i], dk[i], 1e-6);
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(r.dv[i], dv[i], 1e-6);
}

TEST(decoding_gives_the_bits_of_the_long_segment) {
  const int64_t L = 203;
  const Layout whole = {"whole", {L}, {{{0, L}}}, L};
  for (const Shape& heads : kHeads) {
    for_each_backend([&](Backend& b) {
      Problem p(whole, heads);
      p.forward(b);
      const size_t row = static_cast<size_t>(heads.H * heads.E),
                   key_row = static_cast<size_t>(heads.G * heads.E);
      for (int64_t n : {int64_t{1}, int64_t{5}, int64_t{90}}) {
        for (int64_t end : {n, int64_t{64} + n, int64_t{113}, L}) {
          // The same keys, in pages of 32 rows that lie in reverse order.
          const int64_t pages = (end + 31) / 32;
          Layout paged = {"paged", {n}, {{}}, pages * 32};
          std::vector<float> k(static_cast<size_t>(paged.rows) * key_row), v(k.size());
          for (int64_t i = 0; i < pages; ++i) {
            const int64_t first = (pages - 1 - i) * 32, count = std::min<int64_t>(32, end - i * 32);
            paged.keys[0].push_back({first, count});
            std::copy_n(p.k.begin() + i * 32 * key_row, count * key_row, k.begin() + first * key_row);
            std::copy_n(p.v.begin() + i * 32 * key_row, count * key_row, v.begin() + first * key_row);
          }
          Problem part(paged, heads);
          part.k = k;
          part.v = v;
          part.q = {p.q.begin() + (end - n) * row, p.q.begin() + end * row};
          part.forward(b);
          EXPECT(same_bits(part.o.data(), p.o.data() + (end - n) * row, part.o.size() * sizeof(float)));
          EXPECT(same_bits(part.lse.data(), p.lse.data() + (end - n) * heads.H,
                           part.lse.size() * sizeof(float)));
        }
      }
    });
  }
}

TEST(keys_a_query_does_not_see_change_no_bit) {
  const Layout layout = {"one", {100}, {{{0, 100}}}, 100};
  const Shape heads = {.H = 2, .G = 1, .E = 16};
  for_each_backend([&](Backend& b) {
    for (int64_t seen : {1, 13, 64, 65, 99}) {
      Problem p(layout, heads), poisoned(layout, heads);
      for (int64_t i = seen * heads.E; i < layout.rows * heads.E; ++i) {
        poisoned.k[i] = i % 2 ? std::nanf("") : std::numeric_limits<float>::infinity();
        poisoned.v[i] = poisoned.k[i];
      }
      p.forward(b);
      poisoned.forward(b);
      EXPECT(same_bits(p.o.data(), poisoned.o.data(),
                       static_cast<size_t>(seen * heads.H * heads.E) * sizeof(float)));
      EXPECT(std::isnan(poisoned.o.back()));
    }
  });
}

TEST(large_scores_stay_finite) {
  const Layout layout = {"one", {80}, {{{0, 80}}}, 80};
  for_each_backend([&](Backend& b) {
    Problem p(layout, {.H = 1, .G = 1, .E = 4});
    for (float& x : p.q) x *= 200.f;
    for (float& x : p.k) x *= 20.f;
    p.forward(b);
    const Reference want = reference(p, widen(p.q), widen(p.k), widen(p.v), false);
    EXPECT_NEAR(relative_distance(p.lse.data(), want.lse), 0, 1e-6);
    EXPECT_NEAR(relative_distance(p.o.data(), want.o), 0, 1e-3);
  });
}

}  // namespace skillgate::test
