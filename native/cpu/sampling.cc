#include "cpu/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/vocabulary.h"

namespace skillgate {
namespace {

struct Candidate {
  float logit;
  int32_t id;
};

bool more_likely(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

struct Workspace {
  Workspace(Carver& c, int64_t V)
      : stats(c.take<SoftmaxStats>(vocabulary_tiles(V))),
        weights(c.take<float>(V)),
        candidates(c.take<Candidate>(V)) {}
  SoftmaxStats* stats;
  float* weights;  // exp(logit / temperature - maximum)
  Candidate* candidates;
};

struct Row {
  const Kernels& kernels;
  const Workspace& w;
  const float* logits;
  int64_t V;
  float inverse_temperature;
  RowSoftmax softmax;
};

int32_t most_likely(const float* logits, int64_t V) {
  int32_t best = 0;
  float top = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < V; ++i) {
    if (logits[i] > top) {
      top = logits[i];
      best = static_cast<int32_t>(i);
    }
  }
  return best;
}

// From the whole distribution: the tile first, by the sums that are already there, then the token in the
// tile.
int32_t draw_unfiltered(const Row& row, double uniform) {
  const int64_t tiles = vocabulary_tiles(row.V);
  auto mass = [&](int64_t i) {
    return row.w.stats[i].sum * std::exp(static_cast<double>(row.w.stats[i].maximum) - row.softmax.maximum);
  };
  double total = 0;
  for (int64_t i = 0; i < tiles; ++i) total += row.w.stats[i].sum == 0.f ? 0 : mass(i);
  const double wanted = uniform * total;
  double before = 0, in_tile = 0;
  int64_t chosen = 0;
  for (int64_t i = 0; i < tiles; ++i) {
    if (row.w.stats[i].sum == 0.f) continue;
    in_tile = mass(i);
    chosen = i;
    if (before + in_tile > wanted) break;
    before += in_tile;
  }
  const int64_t v0 = chosen * kVocabularyTile, n = std::min(kVocabularyTile, row.V - v0);
  row.kernels.softmax_weights(row.w.weights, row.logits + v0, n, row.inverse_temperature,
                              row.w.stats[chosen].maximum);
  double tile_total = 0;
  for (int64_t i = 0; i < n; ++i) tile_total += row.w.weights[i];
  const double rest = std::max(0.0, wanted - before) / in_tile * tile_total;
  double sum = 0;
  int32_t last = static_cast<int32_t>(v0);
  for (int64_t i = 0; i < n; ++i) {
    if (row.w.weights[i] <= 0.f) continue;
    sum += row.w.weights[i];
    last = static_cast<int32_t>(v0 + i);
    if (sum > rest) break;
  }
  return last;
}

// Candidates whose logit / temperature is within `depth` of the maximum; returns their number and adds up
// their weight.
int64_t gather(const Row& row, float depth, double* mass) {
  int64_t n = 0;
  *mass = 0;
  const float least = std::exp(-depth);
  for (int64_t i = 0; i < row.V; ++i) {
    if (row.w.weights[i] < least) continue;
    row.w.candidates[n++] = {row.logits[i], static_cast<int32_t>(i)};
    *mass += row.w.weights[i];
  }
  return n;
}

// The kept tokens become the first candidates; returns how many there are.
int64_t keep(const Row& row, const SampleOptions& o) {
  Candidate* c = row.w.candidates;
  auto weight = [&](const Candidate& x) { return row.w.weights[x.id]; };
  const bool top_k = o.top_k > 0 && o.top_k < row.V;
  int64_t n = 0;
  double total = 0, mass = 0;
  if (top_k) {
    n = gather(row, std::numeric_limits<float>::infinity(), &total);
    if (o.top_k < n) {
      std::nth_element(c, c + o.top_k, c + n, more_likely);
      n = o.top_k;
    }
    total = 0;
    std::sort(c, c + n, more_likely);
    for (int64_t i = 0; i < n; ++i) total += weight(c[i]);
  } else if (o.top_p < 1.f) {
    for (int64_t i = 0; i < row.V; ++i) total += row.w.weights[i];
    // Deep enough to hold the wanted mass, so that only likely tokens are sorted.
    for (float depth : {2.f, 5.f, 10.f, 20.f, std::numeric_limits<float>::infinity()}) {
      n = gather(row, depth, &mass);
      if (mass >= static_cast<double>(o.top_p) * total) break;
    }
    std::sort(c, c + n, more_likely);
  } else {
    n = gather(row, std::numeric_limits<float>::infinity(), &total);
  }
  if (o.top_p < 1.f) {
    const double wanted = static_cast<double>(o.top_p) * total;
    double sum = 0;
    int64_t kept = 0;
    while (kept < n && (kept == 0 || sum < wanted)) sum += weight(c[kept++]);
    n = kept;
  }
  if (o.min_p > 0.f) {
    // The largest weight is 1.
    n = std::remove_if(c, c + n, [&](const Candidate& x) { return weight(x) < std::min(o.min_p, 1.f); }) - c;
  }
  return n;
}

int32_t draw_filtered(const Row& row, const SampleOptions& o, double uniform) {
  row.kernels.softmax_weights(row.w.weights, row.logits, row.V, row.inverse_temperature, row.softmax.maximum);
  const int64_t n = keep(row, o);
  Candidate* c = row.w.candidates;
  std::sort(c, c + n, [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
  double total = 0, sum = 0;
  for (int64_t i = 0; i < n; ++i) total += row.w.weights[c[i].id];
  int32_t last = n > 0 ? c[0].id : most_likely(row.logits, row.V);
  for (int64_t i = 0; i < n; ++i) {
    if (row.w.weights[c[i].id] <= 0.f) continue;
    sum += row.w.weights[c[i].id];
    last = c[i].id;
    if (sum > uniform * total) break;
  }
  return last;
}

}  // namespace

double uniform_number(uint64_t seed, uint64_t counter) {
  uint32_t x[4] = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * x[0], b = uint64_t{0xCD9E8D57u} * x[2];
    const uint32_t y[4] = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key0, static_cast<uint32_t>(b),
                           static_cast<uint32_t>(a >> 32) ^ x[3] ^ key1, static_cast<uint32_t>(a)};
    std::copy(y, y + 4, x);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  const uint64_t bits = (uint64_t{x[0]} << 32 | x[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

void sample(CpuContext& context, int32_t* token, float* logprob, const float* logits,
            const SampleOptions* options, int64_t R, int64_t V) {
  const int threads = context.threads_for(R * V / context.kernels.width * 24);
  Carver measure;
  Workspace(measure, V);
  context.reserve_thread_scratch(threads, measure.used());
  context.pool.run(R, threads, [&](int64_t r, int thread) {
    Carver carver(context.thread_scratch[thread].data());
    const Workspace workspace(carver, V);
    const SampleOptions& o = options[r];
    Row row{
        context.kernels, workspace, logits + r * V, V, 1.f / (o.temperature > 0.f ? o.temperature : 1.f), {}};
    tile_stats(row.kernels, workspace.stats, row.logits, V, row.inverse_temperature);
    row.softmax = combine_tiles(workspace.stats, vocabulary_tiles(V));
    const bool filtered = (o.top_k > 0 && o.top_k < V) || o.top_p < 1.f || o.min_p > 0.f;
    if (!std::isfinite(row.softmax.log_sum)) {
      token[r] = 0;
    } else if (!(o.temperature > 0.f)) {
      token[r] = most_likely(row.logits, V);
    } else {
      const double uniform = uniform_number(o.seed, o.counter);
      token[r] = filtered ? draw_filtered(row, o, uniform) : draw_unfiltered(row, uniform);
    }
    logprob[r] = row.softmax.logprob(row.logits[token[r]], row.inverse_temperature);
  });
}

}  // namespace skillgate
