// The rows of a pass that meet the LM head, gathered: hidden [R, D] = norm(x [R, D]), x = those rows of the
// residual stream.
#pragma once
#include <cstdint>

#include "model/activations.h"
#include "model/decoder.h"

namespace skillgate {

constexpr int64_t kScoreRows = 4096;  // rows scored at a time

struct HeadRows {
  Tensor index, rstd, x, hidden;

  static int64_t bytes(int64_t R, int64_t D) { return 2 * Arena::need(R) + 2 * Arena::need(R * D); }
  // With d(loss)/d(hidden) and d(loss)/dx beside them.
  static int64_t update_bytes(int64_t R, int64_t D) { return bytes(R, D) + 2 * Arena::need(R * D); }

  HeadRows(Arena& arena, int64_t R, int64_t D)
      : index(arena.take(DType::i32, {R})),
        rstd(arena.take(DType::f32, {R})),
        x(arena.take(DType::f32, {R, D})),
        hidden(arena.take(DType::f32, {R, D})) {}

  void gather(Backend& backend, const Decoder& decoder, Tensor residual, const int32_t* rows) const {
    backend.upload(index.data, rows, index.bytes());
    backend.gather_rows(x, residual, index);
    backend.rmsnorm_forward(hidden, rstd, x, decoder.weights().tensor(decoder.table().final_norm),
                            decoder.config().rms_eps);
  }
};

}  // namespace skillgate
