// Which rows of a call take part, brought together on the device: those that carry loss, and of them those that
// have a slope.
#pragma once
#include <string>

#include "backend/status.h"
#include "cuda/cuda_context.h"
#include "cuda/loss_rows.cuh"

namespace skillgate::cuda {

constexpr int kCompactThreads = 1024;

// The rows whose slope is not 0, in order: their places in the chunk and in hidden, and how many there are.
struct SlopedRows {
  int32_t *place, *hidden_row, *count;
};

// Where this thread's row goes among those taken, in order; `before` of them came in earlier rounds of the
// block, and this round's are added to it. All threads of the block call it.
__device__ inline int ordered_place(bool taken, int* warp_counts, int& before) {
  const unsigned lanes = __ballot_sync(kAllLanes, taken);
  __syncthreads();  // the last round's counts have been read
  if (lane_id() == 0) warp_counts[warp_id()] = __popc(lanes);
  __syncthreads();  // every warp's count is there
  int at = before + __popc(lanes & ((1u << lane_id()) - 1));
  for (int w = 0; w < kCompactThreads / kWarp; w++) {
    if (w < warp_id()) at += warp_counts[w];
    before += warp_counts[w];
  }
  return at;
}

static __global__ void __launch_bounds__(kCompactThreads)
    compact_rows_kernel(SlopedRows out, const RowResult* results, const int32_t* index, int64_t rows) {
  SKILLGATE_SHARED(int, warp_counts, [kCompactThreads / kWarp]);
  int before = 0;
  for (int64_t base = 0; base < rows; base += kCompactThreads) {
    const int64_t r = base + threadIdx.x;
    const bool sloped = r < rows && results[r].slope != 0.f;
    const int at = ordered_place(sloped, warp_counts, before);
    if (sloped) {
      out.place[at] = static_cast<int32_t>(r);
      out.hidden_row[at] = index[r];
    }
  }
  if (threadIdx.x == 0) *out.count = before;
}

// The per-row fields of a call, null where it has none; in host memory, or the device's copies of them.
struct RowFields {
  const int32_t* target;
  const float *advantage, *weight, *kl_weight, *behaviour_logprob, *reference_logprob;
  bool kl;  // has a slope

  static constexpr int kFields = 6;
  enum class Kind : uint8_t { absent, scored, trained };  // trained: can have a slope
  __host__ __device__ Kind kind(int64_t r) const {
    if (!weight) return Kind::scored;
    const bool in_kl = kl_weight && kl_weight[r] != 0.f;
    if (weight[r] == 0.f && !in_kl) return Kind::absent;
    return (weight[r] != 0.f && advantage[r] != 0.f) || (kl && in_kl) ? Kind::trained : Kind::scored;
  }
  __device__ LossRow row(int64_t r) const {
    auto at = [r](const float* field) { return field ? field[r] : 0.f; };
    return {target[r],     at(advantage),         at(weight),
            at(kl_weight), at(behaviour_logprob), at(reference_logprob)};
  }
  RowFields on_device(Context::Scratch& scratch, int64_t R) const {
    auto copy = [&](auto* field) { return field ? scratch.upload(field, R) : nullptr; };
    return {copy(target),
            copy(advantage),
            copy(weight),
            copy(kl_weight),
            copy(behaviour_logprob),
            copy(reference_logprob),
            kl};
  }
};

// How many rows take part: those trained, and all.
struct RowCounts {
  int64_t trained = 0, all = 0;
};

// The rows that take part, those trained first, and their places in hidden; else in order. One block.
static __global__ void __launch_bounds__(kCompactThreads)
    pick_rows_kernel(LossRow* rows, int32_t* index, RowFields fields, int64_t R, RowCounts counts) {
  SKILLGATE_SHARED(int, warp_counts, [kCompactThreads / kWarp]);
  int trained = 0, scored = static_cast<int>(counts.trained);
  for (int64_t base = 0; base < R; base += kCompactThreads) {
    const int64_t r = base + threadIdx.x;
    const RowFields::Kind kind = r < R ? fields.kind(r) : RowFields::Kind::absent;
    const int first = ordered_place(kind == RowFields::Kind::trained, warp_counts, trained);
    const int second = ordered_place(kind == RowFields::Kind::scored, warp_counts, scored);
    if (kind == RowFields::Kind::absent) continue;
    const int at = kind == RowFields::Kind::trained ? first : second;
    rows[at] = fields.row(r);
    index[at] = static_cast<int32_t>(r);
  }
}

// Also checks the targets of the rows that take part.
inline RowCounts count_rows(const RowFields& fields, int64_t R, int64_t V) {
  RowCounts counts;
  for (int64_t r = 0; r < R; r++) {
    const RowFields::Kind kind = fields.kind(r);
    if (kind == RowFields::Kind::absent) continue;
    if (fields.target[r] < 0 || fields.target[r] >= V)
      throw Failure("ERR_INVALID_TOKEN", "expected a target token of 0 .. " + std::to_string(V - 1) +
                                             " in row " + std::to_string(r) + ", got " +
                                             std::to_string(fields.target[r]));
    counts.all++;
    if (kind == RowFields::Kind::trained) counts.trained++;
  }
  return counts;
}

}  // namespace skillgate::cuda
