// What scripts/gpu-check.mjs measures on a device; each prints one line of JSON.
#pragma once
#include <cstdint>
#include <string>

namespace skillgate::bench {

// The LM head with its loss at T rows that all carry loss: the three products alone, the fused update, and the row kernel beside a copy.
void measure_policy_loss(int64_t T, int64_t D, int64_t V, int rounds);

// A model folder whose weights are replaced by random ones. `update`: one pass of `sequences` sequences of `length` tokens, a quarter of
// which carry loss, and the optimizer's step. `decode`: `sequences` contexts of `length` tokens, and `tokens` more for each.
void measure_update(const std::string& folder, int64_t sequences, int64_t length);
void measure_decode(const std::string& folder, int64_t sequences, int64_t length, int64_t tokens);

}  // namespace skillgate::bench
