// Continuous batching: every call of advance() runs one forward pass that holds one token of each sequence
// that is decoding and a chunk of the prompts that are not yet in the cache. Sessions keep their cache
// between requests; the pages of a common prefix are shared between sessions (and so by the rollouts of a
// group).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "model/decoder.h"
#include "model/kv_cache.h"

namespace skillgate {

struct GenerateRequest {
  uint64_t id = 0;       // chosen by the caller, unique among those in flight
  int64_t session = -1;  // -1: none, the cache is dropped when the request ends
  std::vector<int32_t>
      tokens;  // the whole context; what the session's cache already holds of it is not recomputed
  int64_t max_tokens = 0;            // at least 1
  SampleOptions sample;              // counter is set by the engine: the position of the sampled token
  std::vector<int32_t> stop_tokens;  // a sampled stop token ends the request and is part of its tokens
};

enum class FinishReason : uint8_t { stop, length, aborted };

struct GenerateResult {
  uint64_t id = 0;
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  FinishReason reason = FinishReason::length;
};

class Generator {
 public:
  Generator(Backend& backend, const Decoder& decoder, int64_t prefill_chunk);
  ~Generator();

  int64_t open_session();
  int64_t fork_session(int64_t session);  // shares pages, copies nothing that is full
  void close_session(
      int64_t session);  // Failure ERR_UNKNOWN_SESSION, ERR_BUSY while a request of it is in flight
  bool has_session(int64_t session) const;

  // Checks and enqueues. Failure: ERR_INVALID_TOKEN, ERR_CONTEXT_LENGTH, ERR_BUSY (session in use),
  // ERR_UNKNOWN_SESSION.
  void submit(GenerateRequest request);
  void abort(uint64_t id);  // what was sampled so far comes back with reason aborted; unknown ids are ignored

  bool idle() const;                      // no request in flight
  std::vector<GenerateResult> advance();  // one forward pass; the requests that ended in it

  void forget();  // the weights changed: drop all cached rows (sessions stay open). Only when idle.
  int64_t cached_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skillgate
