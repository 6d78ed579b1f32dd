// Attention over packed sequences, shared prefixes and cache pages, against float64.
#include <cmath>

#include "check.h"
#include "device_fixture.h"
#include "model/token_rows.h"
#include "reference.h"

using namespace skillgate;
using namespace skillgate::test;

namespace {

struct Heads {
  int64_t H, G, E;
};
// Every tile width; widths that 4, 8 and 16 do not divide; one group, groups of 3 and of 8.
const Heads kHeads[] = {{6, 2, 8}, {4, 4, 6}, {3, 1, 40}, {8, 1, 64}, {2, 2, 100}, {2, 1, 136}};

struct Layout {
  std::string name;
  SpanList spans;
  int64_t queries, rows;
};

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  Layout packed{"packed", {}, 0, 0};
  for (int64_t n : {1, 70, 5, 33}) {
    packed.spans.add_span(packed.rows, n);
    packed.rows += n;
    packed.spans.end_segment(packed.rows);
  }
  packed.queries = packed.rows;
  all.push_back(packed);

  // A prefix of 20 rows, computed once, then three answers that see it.
  Layout shared{"shared prefix", {}, 0, 0};
  shared.spans.add_span(0, 20);
  shared.spans.end_segment(20);
  int64_t row = 20;
  for (int64_t n : {9, 1, 40}) {
    shared.spans.add_span(0, 20);
    shared.spans.add_span(row, n);
    row += n;
    shared.spans.end_segment(row);
  }
  shared.queries = shared.rows = row;
  all.push_back(shared);

  // Decoding from pages of 32 in any order, and a chunk of a prompt.
  Layout pages{"pages", {}, 0, 320};
  pages.spans.add_span(96, 32);
  pages.spans.add_span(0, 32);
  pages.spans.add_span(288, 11);
  pages.spans.end_segment(1);
  pages.spans.add_span(32, 32);
  pages.spans.add_span(160, 17);
  pages.spans.end_segment(1 + 8);
  pages.spans.add_span(255, 1);
  pages.spans.end_segment(10);
  pages.queries = 10;
  all.push_back(pages);
  return all;
}

struct Tolerances {
  double forward, backward;
};
Tolerances tolerances(const std::string& precision) {
  return precision == "fp32" ? Tolerances{1e-6, 3e-6} : Tolerances{6e-3, 1e-2};
}

}  // namespace

TEST(attention_matches_float64) {
  for_each_precision([](Backend& backend, const std::string& precision) {
    for (const Heads& h : kHeads)
      for (const Layout& layout : layouts()) {
        check::Scope scope(layout.name + " H " + std::to_string(h.H) + " G " + std::to_string(h.G) + " E " +
                           std::to_string(h.E));
        Random random(4);
        const int64_t T = layout.queries, rows = layout.rows;
        const Floats q = random.normals(T * h.H * h.E), k = random.normals(rows * h.G * h.E);
        const Floats v = random.normals(rows * h.G * h.E), d_o = random.normals(T * h.H * h.E);
        const Floats before_k = random.normals(rows * h.G * h.E), before_v = random.normals(rows * h.G * h.E);
        const float scale = 1.f / std::sqrt(static_cast<float>(h.E));
        const AttentionCase c{h.H, h.G, h.E, rows, scale, layout.spans.view(), q, k, v};
        Doubles want_o, want_lse, want_dq, want_dk, want_dv;
        attention_reference(c, want_o, want_lse);
        attention_backward_reference(c, d_o, want_dq, want_dk, want_dv);

        const DeviceArray aq(backend, q), ak(backend, k), av(backend, v), ado(backend, d_o);
        const DeviceArray o(backend, T * h.H * h.E), lse(backend, T * h.H), dq(backend, T * h.H * h.E);
        const DeviceArray dk(backend, before_k), dv(backend, before_v);
        const Tensor tq = aq.tensor({T, h.H, h.E}), tk = ak.tensor({rows, h.G, h.E}),
                     tv = av.tensor({rows, h.G, h.E});
        backend.attention_forward(o.tensor({T, h.H, h.E}), lse.tensor({T, h.H}), tq, tk, tv, c.spans, scale);
        backend.attention_backward(dq.tensor({T, h.H, h.E}), dk.tensor({rows, h.G, h.E}),
                                   dv.tensor({rows, h.G, h.E}), ado.tensor({T, h.H, h.E}),
                                   o.tensor({T, h.H, h.E}), lse.tensor({T, h.H}), tq, tk, tv, c.spans, scale);
        const Tolerances t = tolerances(precision);
        EXPECT_NEAR(distance(o.floats(), want_o), 0, t.forward);
        EXPECT_NEAR(largest_difference(lse.floats(), want_lse), 0, precision == "fp32" ? 1e-5 : 2e-2);
        EXPECT_NEAR(distance(dq.floats(), want_dq), 0, t.backward);
        EXPECT_NEAR(distance(dk.floats(), plus(before_k, want_dk)), 0, t.backward);
        EXPECT_NEAR(distance(dv.floats(), plus(before_v, want_dv)), 0, t.backward);
      }
  });
}

// A token's attention has the same bits computed with its sequence, or alone against cached keys elsewhere.
TEST(attention_rows_do_not_depend_on_the_call) {
  for_each_precision([](Backend& backend, const std::string&) {
    const int64_t H = 6, G = 2, E = 40, T = 150;
    Random random(5);
    const Floats q = random.normals(T * H * E), k = random.normals(T * G * E), v = random.normals(T * G * E);
    auto forward = [&](const Floats& queries, const Floats& keys, const Floats& values,
                       const SpanList& spans) {
      const auto n = static_cast<int64_t>(queries.size()) / (H * E),
                 rows = static_cast<int64_t>(keys.size()) / (G * E);
      const DeviceArray aq(backend, queries), ak(backend, keys), av(backend, values), o(backend, n * H * E);
      const DeviceArray lse(backend, n * H);
      backend.attention_forward(o.tensor({n, H, E}), lse.tensor({n, H}), aq.tensor({n, H, E}),
                                ak.tensor({rows, G, E}), av.tensor({rows, G, E}), spans.view(), 0.2f);
      return o.floats();
    };
    SpanList whole;
    whole.add_span(0, T);
    whole.end_segment(T);
    const Floats want = forward(q, k, v, whole);
    // Keys moved to pages of 32 in another order.
    const int64_t order[] = {3, 1, 4, 0, 2}, page = 32 * G * E;
    Floats paged_k(static_cast<size_t>(5 * page), 0.f), paged_v(paged_k);
    for (int64_t p = 0; p < 5; p++)
      for (int64_t i = 0; i < page && p * page + i < T * G * E; i++) {
        paged_k[static_cast<size_t>(order[p] * page + i)] = k[static_cast<size_t>(p * page + i)];
        paged_v[static_cast<size_t>(order[p] * page + i)] = v[static_cast<size_t>(p * page + i)];
      }
    for (const auto& [first, last] :
         {std::pair<int64_t, int64_t>{0, 0}, {63, 63}, {64, 64}, {149, 149}, {100, 130}}) {
      SpanList spans;
      for (int64_t p = 0; p * 32 <= last; p++)
        spans.add_span(order[p] * 32, std::min<int64_t>(32, last + 1 - p * 32));
      spans.end_segment(last - first + 1);
      const Floats queries(q.begin() + first * H * E, q.begin() + (last + 1) * H * E);
      check::Scope scope("queries " + std::to_string(first) + " to " + std::to_string(last));
      EXPECT(same_bits(forward(queries, paged_k, paged_v, spans),
                       Floats(want.begin() + first * H * E, want.begin() + (last + 1) * H * E)));
    }
  });
}

TEST(attention_spans_are_checked) {
  const auto backend = open_cuda("fp32");
  const DeviceArray x(*backend, Floats(4 * 8, 0.f)), lse(*backend, 4);
  const Tensor t = x.tensor({4, 1, 8});
  auto forward = [&](int64_t row, int64_t count, int64_t queries) {
    SpanList spans;
    spans.add_span(row, count);
    spans.end_segment(queries);
    backend->attention_forward(t, lse.tensor({4, 1}), t, t, t, spans.view(), 1.f);
  };
  EXPECT_FAILURE("ERR_SHAPE", forward(1, 4, 1));
  EXPECT_FAILURE("ERR_SHAPE", forward(-1, 2, 1));
  EXPECT_FAILURE("ERR_SHAPE", forward(0, 2, 3));
  EXPECT_FAILURE("ERR_SHAPE", forward(0, 4, 5));
}
