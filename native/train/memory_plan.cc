// What an update will hold, counted before anything of it runs.
#include <algorithm>
#include <string>

#include "backend/status.h"
#include "train/head_rows.h"
#include "train/policy_state.h"

namespace skillgate {

namespace {

// Bytes by purpose, beyond what the policy holds already.
struct Need {
  int64_t activations = 0, loss = 0, optimizer = 0;
  int64_t total() const { return activations + loss + optimizer; }
};

int64_t growth(int64_t wanted, int64_t held) {
  return std::max<int64_t>(0, wanted - held);
}

std::string mib(int64_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

}  // namespace

int64_t Policy::State::resident_bytes() const {
  return weights.bytes() + packed.bytes() + (rollout_packed ? rollout_packed->bytes() : 0) +
         gradients.bytes() + first_moment.bytes() + second_moment.bytes() + activations.arena.bytes() +
         head.bytes() + generator->cached_bytes();
}

namespace {

int64_t bytes_to_spare(const Backend& backend, int64_t limit, int64_t held) {
  const int64_t free = backend.free_bytes();
  return limit > 0 ? std::min(free, growth(limit, held)) : free;
}

[[noreturn]] void refuse(int64_t rows, const Need& need, int64_t spare, const std::string& advice) {
  throw Failure("ERR_OUT_OF_MEMORY", "a pass over " + std::to_string(rows) + " tokens needs " +
                                         mib(need.total()) + " more (activations " + mib(need.activations) +
                                         ", loss " + mib(need.loss) + ", gradients and optimizer " +
                                         mib(need.optimizer) + "), there are " + mib(spare) + ": " + advice);
}

}  // namespace

Activations::Mode Policy::State::plan_update(int64_t rows, int64_t loss_rows) const {
  using Mode = Activations::Mode;
  const int64_t block = table.floats * static_cast<int64_t>(sizeof(float));
  Need need;
  need.loss = growth(HeadRows::update_bytes(loss_rows, config.D), head.bytes()) +
              backend->policy_loss_bytes(loss_rows, config.D, config.V);
  for (const Parameters* p : {&gradients, &first_moment, &second_moment})
    if (!p->allocated()) need.optimizer += block;
  auto total = [&](Mode mode) {
    need.activations = growth(activations.bytes_needed(config, rows, mode), activations.arena.bytes());
    return need.total();
  };
  const int64_t keep = total(Mode::keep);
  if (keep == 0) return options.recompute ? Mode::recompute : Mode::keep;
  const int64_t spare = bytes_to_spare(*backend, options.memory_limit, resident_bytes());
  if (!options.recompute && keep <= spare) return Mode::keep;
  if (total(Mode::recompute) <= spare) return Mode::recompute;
  const std::string lower = "fewer tokens a pass (microBatchTokens) lower it";
  refuse(rows, need, spare,
         options.memory_limit > 0
             ? lower + ", or allow more (memoryLimit is " + mib(options.memory_limit) + ")"
             : lower);
}

void Policy::State::plan_scores(int64_t rows) const {
  Need need;
  need.activations =
      growth(activations.bytes_needed(config, rows, Activations::Mode::forward), activations.arena.bytes());
  need.loss = growth(HeadRows::bytes(std::min(rows, kScoreRows), config.D), head.bytes());
  if (need.total() == 0) return;
  const int64_t spare = bytes_to_spare(*backend, options.memory_limit, resident_bytes());
  if (need.total() > spare) refuse(rows, need, spare, "fewer tokens a pass (microBatchTokens) lower it");
}

}  // namespace skillgate
