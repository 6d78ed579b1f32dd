#include "model/generate.h"

#include <algorithm>
#include <list>
#include <unordered_map>

#include "backend/status.h"
#include "model/token_rows.h"

namespace skillgate {

namespace {
constexpr int64_t kPage = KvCache::kPage;
constexpr int64_t kMaxLogitsFloats = 8 << 20;  // rows of logits made at a time

// What the cache holds for one context: the tokens whose keys and values are computed. The last page, where
// it is not full, belongs to this session alone; full pages may be shared.
struct Session {
  std::vector<int32_t> tokens;
  std::vector<int32_t> pages;
  bool busy = false;
  bool keep = true;  // false: made for one request
  int64_t length() const { return static_cast<int64_t>(tokens.size()); }
};

int64_t common_prefix(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  const size_t n = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin();
}
}  // namespace

struct Generator::State {
  struct Active {
    GenerateRequest request;
    int64_t session = -1;
    std::vector<int32_t> context;  // the request's tokens, then the sampled ones
    std::vector<float> logprobs;
    bool admitted = false, aborted = false;
  };
  struct Chunk {
    Active* active;
    int64_t begin, count;  // context positions computed in this pass
    // The pass computes the context's last position, from which the next token is sampled.
    bool complete() const { return begin + count == static_cast<int64_t>(active->context.size()); }
  };

  Backend& backend;
  const Decoder& decoder;
  const int64_t prefill_chunk;
  KvCache cache;
  Activations activations;
  Arena head;  // the rows that get logits
  std::unordered_map<int64_t, Session> sessions;
  std::list<Active> active;
  int64_t next_session = 1;

  State(Backend& b, const Decoder& d, int64_t chunk)
      : backend(b),
        decoder(d),
        prefill_chunk(std::max<int64_t>(chunk, 1)),
        cache(b, d.config()),
        activations(b),
        head(b) {}

  Session& session(int64_t id) {
    const auto it = sessions.find(id);
    if (it == sessions.end())
      throw Failure("ERR_UNKNOWN_SESSION", "no open session " + std::to_string(id) + " in this policy");
    return it->second;
  }

  void truncate(Session& s, int64_t length) {
    // A page that becomes partial must not be shared: give up its rows instead.
    if (length % kPage != 0 && cache.shared(s.pages[static_cast<size_t>(length / kPage)]))
      length -= length % kPage;
    const int64_t keep = (length + kPage - 1) / kPage;
    while (static_cast<int64_t>(s.pages.size()) > keep) {
      cache.drop_page(s.pages.back());
      s.pages.pop_back();
    }
    s.tokens.resize(static_cast<size_t>(length));
  }

  void clear(Session& s) {
    for (int32_t page : s.pages) cache.drop_page(page);
    s.pages.clear();
    s.tokens.clear();
  }

  // Finds the longest cached beginning of the request's context, its own or another session's, whole pages of
  // which it then shares. False: another request is just computing a longer common prefix, wait for it.
  bool admit(Active& a) {
    Session& own = session(a.session);
    const int64_t last = static_cast<int64_t>(a.context.size()) - 1;  // at least one token is always computed
    int64_t have = std::min(common_prefix(own.tokens, a.context), last);
    for (const Active& other : active) {
      if (!other.admitted || &other == &a) continue;
      const int64_t computed = session(other.session).length();
      if (computed >= static_cast<int64_t>(other.context.size()) - 1) continue;
      const int64_t will_be = std::min(common_prefix(other.context, a.context), last);
      if (will_be / kPage > std::max(computed, have) / kPage) return false;
    }
    const Session* best = nullptr;
    int64_t best_pages = (have + kPage - 1) / kPage;
    for (const auto& [id, s] : sessions) {
      if (id == a.session || s.tokens.empty() || s.tokens[0] != a.context[0]) continue;
      const int64_t pages = std::min(common_prefix(s.tokens, a.context), last) / kPage;
      if (pages > best_pages) {
        best = &s;
        best_pages = pages;
      }
    }
    if (best) {
      std::vector<int32_t> pages(best->pages.begin(), best->pages.begin() + best_pages);
      for (int32_t page : pages) cache.share_page(page);
      clear(own);
      own.pages = std::move(pages);
      own.tokens.assign(a.context.begin(), a.context.begin() + best_pages * kPage);
    } else {
      truncate(own, have);
    }
    a.admitted = true;
    return true;
  }

  std::vector<Chunk> choose() {
    std::vector<Chunk> chunks;
    int64_t budget = prefill_chunk;
    for (Active& a : active) {
      if (!a.admitted && !admit(a)) continue;
      const int64_t done = session(a.session).length(),
                    pending = static_cast<int64_t>(a.context.size()) - done;
      const int64_t count = pending == 1 ? 1 : std::min(pending, budget);
      if (count == 0) continue;
      if (pending > 1) budget -= count;
      chunks.push_back({&a, done, count});
    }
    return chunks;
  }

  void forward(const std::vector<Chunk>& chunks) {
    std::vector<int32_t> tokens, positions, cache_rows, wanted;
    SpanList spans;
    for (const Chunk& c : chunks) {
      Session& s = session(c.active->session);
      for (int64_t p = c.begin; p < c.begin + c.count; p++) {
        if (p % kPage == 0) s.pages.push_back(cache.take_page());
        tokens.push_back(c.active->context[static_cast<size_t>(p)]);
        positions.push_back(static_cast<int32_t>(p));
        cache_rows.push_back(
            static_cast<int32_t>(s.pages[static_cast<size_t>(p / kPage)] * kPage + p % kPage));
      }
      s.tokens.insert(s.tokens.end(), c.active->context.begin() + c.begin,
                      c.active->context.begin() + c.begin + c.count);
      // Neighbouring pages make one run.
      const int64_t length = s.length();
      for (int64_t p = 0; p < length; p += kPage) {
        const int64_t row = s.pages[static_cast<size_t>(p / kPage)] * kPage, n = std::min(kPage, length - p);
        const auto first = static_cast<size_t>(spans.span_offsets.back());
        if (spans.span_row.size() > first && spans.span_row.back() + spans.span_count.back() == row) {
          spans.span_count.back() += n;
        } else {
          spans.add_span(row, n);
        }
      }
      spans.end_segment(static_cast<int64_t>(tokens.size()));
      if (c.complete()) wanted.push_back(static_cast<int32_t>(tokens.size() - 1));
    }
    DecoderRows rows{static_cast<int64_t>(tokens.size()), tokens.data(), positions.data(), spans.view(),
                     cache_rows.data()};
    if (wanted.size() < tokens.size()) {
      rows.wanted = wanted.data();
      rows.W = static_cast<int64_t>(wanted.size());
    }
    activations.plan(decoder.config(), rows.T, Activations::Mode::forward);
    decoder.forward(rows, activations, &cache, nullptr);
  }

  // The next token of each listed request; output row i of the pass belongs to request i.
  void sample(const std::vector<Active*>& requests) {
    const ModelConfig& c = decoder.config();
    const int64_t most = std::max<int64_t>(1, kMaxLogitsFloats / c.V);
    for (int64_t at = 0; at < static_cast<int64_t>(requests.size()); at += most) {
      const int64_t R = std::min(most, static_cast<int64_t>(requests.size()) - at);
      head.reserve(Arena::need(R) + Arena::need(R * c.D) + Arena::need(R * c.V));
      const Tensor rstd = head.take(DType::f32, {R}), hidden = head.take(DType::f32, {R, c.D});
      const Tensor logits = head.take(DType::f32, {R, c.V});
      const ParameterTable& table = decoder.table();
      const Parameters& w = decoder.weights();
      Tensor x = first_rows(activations.output(), R);
      x.data = x.f32() + at * c.D;
      backend.rmsnorm_forward(hidden, rstd, x, w.tensor(table.final_norm), c.rms_eps);
      backend.linear_forward(logits, hidden, w.tensor(table.lm_head), decoder.packed().at(table.lm_head), {});
      std::vector<SampleOptions> options;
      for (int64_t r = 0; r < R; r++) {
        const Active& a = *requests[static_cast<size_t>(at + r)];
        options.push_back(a.request.sample);
        options.back().counter = a.context.size();
      }
      std::vector<int32_t> token(static_cast<size_t>(R));
      std::vector<float> logprob(static_cast<size_t>(R));
      backend.sample(token.data(), logprob.data(), logits, options.data());
      for (int64_t r = 0; r < R; r++) {
        Active& a = *requests[static_cast<size_t>(at + r)];
        a.context.push_back(token[static_cast<size_t>(r)]);
        a.logprobs.push_back(logprob[static_cast<size_t>(r)]);
      }
    }
  }

  bool finished(const Active& a, FinishReason& reason) const {
    const auto sampled = static_cast<int64_t>(a.logprobs.size());
    if (a.aborted) {
      reason = FinishReason::aborted;
      return true;
    }
    if (sampled == 0) return false;
    const auto& stop = a.request.stop_tokens;
    if (std::find(stop.begin(), stop.end(), a.context.back()) != stop.end()) {
      reason = FinishReason::stop;
      return true;
    }
    reason = FinishReason::length;
    return sampled >= a.request.max_tokens ||
           static_cast<int64_t>(a.context.size()) >= decoder.config().max_positions;
  }

  std::vector<GenerateResult> collect_finished() {
    std::vector<GenerateResult> results;
    for (auto a = active.begin(); a != active.end();) {
      FinishReason reason{};
      if (!finished(*a, reason)) {
        ++a;
        continue;
      }
      GenerateResult r;
      r.id = a->request.id;
      r.tokens.assign(a->context.begin() + static_cast<std::ptrdiff_t>(a->request.tokens.size()),
                      a->context.end());
      r.logprobs = std::move(a->logprobs);
      r.reason = reason;
      results.push_back(std::move(r));
      Session& s = session(a->session);
      s.busy = false;
      if (!s.keep) {
        clear(s);
        sessions.erase(a->session);
      }
      a = active.erase(a);
    }
    return results;
  }
};

Generator::Generator(Backend& backend, const Decoder& decoder, int64_t prefill_chunk)
    : state_(std::make_unique<State>(backend, decoder, prefill_chunk)) {}
Generator::~Generator() = default;

int64_t Generator::open_session() {
  const int64_t id = state_->next_session++;
  state_->sessions[id];
  return id;
}

int64_t Generator::fork_session(int64_t from) {
  Session copy = state_->session(from);
  if (copy.busy)
    throw Failure("ERR_BUSY", "session " + std::to_string(from) + " is generating; fork it afterwards");
  KvCache& cache = state_->cache;
  const int64_t tail = copy.length() % kPage;
  const size_t full = copy.pages.size() - (tail ? 1 : 0);
  if (tail) {
    const int32_t page = cache.take_page();
    cache.copy_rows(copy.pages.back(), page, tail);
    copy.pages.back() = page;
  }
  for (size_t i = 0; i < full; i++) cache.share_page(copy.pages[i]);
  const int64_t id = open_session();
  state_->sessions[id] = std::move(copy);
  return id;
}

void Generator::close_session(int64_t id) {
  Session& s = state_->session(id);
  if (s.busy)
    throw Failure("ERR_BUSY", "session " + std::to_string(id) + " is generating; close it afterwards");
  state_->clear(s);
  state_->sessions.erase(id);
}

bool Generator::has_session(int64_t id) const {
  return state_->sessions.count(id) > 0;
}

void Generator::submit(GenerateRequest request) {
  const ModelConfig& c = state_->decoder.config();
  const auto n = static_cast<int64_t>(request.tokens.size());
  if (n == 0) throw Failure("ERR_INVALID_TOKEN", "tokens: expected at least one token, got none");
  for (int64_t i = 0; i < n; i++) {
    const int32_t t = request.tokens[static_cast<size_t>(i)];
    if (t < 0 || t >= c.V)
      throw Failure("ERR_INVALID_TOKEN", "tokens[" + std::to_string(i) + "]: expected 0 to " +
                                             std::to_string(c.V - 1) + ", got " + std::to_string(t));
  }
  if (n >= c.max_positions)
    throw Failure("ERR_CONTEXT_LENGTH", "tokens: expected fewer than max_position_embeddings " +
                                            std::to_string(c.max_positions) + ", got " + std::to_string(n));
  if (request.max_tokens < 1)
    throw Failure("ERR_OUT_OF_RANGE",
                  "maxTokens: expected at least 1, got " + std::to_string(request.max_tokens));
  State::Active a;
  a.session = request.session;
  if (a.session < 0) {
    a.session = open_session();
    state_->sessions[a.session].keep = false;
  }
  Session& s = state_->session(a.session);
  if (s.busy)
    throw Failure("ERR_BUSY",
                  "session " + std::to_string(a.session) + " is generating; one request at a time");
  s.busy = true;
  a.context = request.tokens;
  a.request = std::move(request);
  state_->active.push_back(std::move(a));
}

void Generator::abort(uint64_t id) {
  for (auto& a : state_->active)
    if (a.request.id == id) a.aborted = true;
}

bool Generator::idle() const {
  return state_->active.empty();
}

std::vector<GenerateResult> Generator::advance() {
  std::vector<GenerateResult> results = state_->collect_finished();  // aborted ones
  const std::vector<State::Chunk> chunks = state_->choose();
  if (chunks.empty()) return results;
  try {
    state_->forward(chunks);
  } catch (...) {
    // The cache of these contexts is in an unknown state: drop it and start them again, should the caller go
    // on.
    for (auto& a : state_->active) {
      state_->clear(state_->session(a.session));
      a.admitted = false;
    }
    throw;
  }
  std::vector<State::Active*> requests;
  for (const State::Chunk& c : chunks)
    if (c.complete()) requests.push_back(c.active);
  state_->sample(requests);
  for (GenerateResult& r : state_->collect_finished()) results.push_back(std::move(r));
  return results;
}

void Generator::forget() {
  for (auto& [id, s] : state_->sessions) state_->clear(s);
}

int64_t Generator::cached_bytes() const {
  return state_->cache.bytes();
}

}  // namespace skillgate
