// What every CPU op gets: kernels, threads and scratch memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/attention_plan.h"
#include "cpu/kernels.h"
#include "cpu/scratch.h"
#include "cpu/thread_pool.h"

namespace skillgate {

struct CpuContext {
  CpuContext(InstructionSet set, int threads)
      : kernels(kernels_for(set)), pool(threads), thread_scratch(static_cast<size_t>(threads)) {}

  // Threads worth waking for `work` simple steps (one is about a vector instruction): none for less than ~2
  // us each.
  int threads_for(int64_t work) const {
    return static_cast<int>(std::clamp<int64_t>(work / kWorkPerThread, 1, pool.threads()));
  }

  // Memory for each thread, taken before the tasks start (a task must not throw).
  void reserve_thread_scratch(int threads, size_t bytes) {
    for (int i = 0; i < threads; ++i) thread_scratch[i].reserve(bytes);
  }

  // Runs body(begin, end, thread) over pieces of 0 .. count of at least `grain`; for ops whose elements are
  // independent.
  template <class Body>
  void for_ranges(int64_t count, int64_t grain, int64_t work, const Body& body) {
    int threads = threads_for(work);
    int64_t pieces =
        std::min<int64_t>((count + grain - 1) / std::max<int64_t>(grain, 1), threads == 1 ? 1 : 4 * threads);
    if (pieces < 1) return;
    pool.run(pieces, threads,
             [&](int64_t i, int thread) { body(count * i / pieces, count * (i + 1) / pieces, thread); });
  }

  static constexpr int64_t kWorkPerThread = 8000;

  const Kernels& kernels;
  ThreadPool pool;
  ScratchBlock scratch;       // of the op that runs
  ScratchBlock loss_scratch;  // of policy_loss and token_logprob, which take far more than others
  AttentionPlan attention;
  std::vector<int32_t> loss_rows;            // that carry loss, in policy_loss
  std::vector<ScratchBlock> thread_scratch;  // of each of its threads
  int64_t flop = 0;                          // of matrix products, two for a multiply-add
};

}  // namespace skillgate
