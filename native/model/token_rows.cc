#include "model/token_rows.h"

#include <algorithm>

namespace skillgate {

void TokenRows::assign(const int32_t* tokens, const int32_t* offsets, int64_t sequences, bool share,
                       int64_t min_shared) {
  tokens_.clear();
  positions_.clear();
  spans_.clear();
  runs_.clear();
  run_offsets_.assign(1, 0);
  longest_ = 0;
  for (int64_t s = 0; s < sequences; s++) {
    const int32_t* t = tokens + offsets[s];
    const int64_t n = offsets[s + 1] - offsets[s];
    longest_ = std::max(longest_, n);

    int64_t common = 0;
    if (share && s > 0) {
      const int32_t* before = tokens + offsets[s - 1];
      const int64_t limit = std::min<int64_t>(n, offsets[s] - offsets[s - 1]);
      while (common < limit && t[common] == before[common]) common++;
      if (common < min_shared) common = 0;
    }
    // The path to this sequence: the previous one's runs, cut at the end of the common prefix, then its own
    // rows.
    if (common > 0) {
      const auto first = static_cast<size_t>(run_offsets_[static_cast<size_t>(s) - 1]);
      const auto last = static_cast<size_t>(run_offsets_[static_cast<size_t>(s)]);
      for (size_t r = first; r < last && runs_[r].position < common; r++) {
        Run run = runs_[r];
        run.count = std::min(run.count, common - run.position);
        runs_.push_back(run);
      }
    }
    if (n > common) {
      runs_.push_back({common, rows(), n - common});
      for (int64_t p = common; p < n; p++) {
        tokens_.push_back(t[p]);
        positions_.push_back(static_cast<int32_t>(p));
      }
      for (size_t r = static_cast<size_t>(run_offsets_.back()); r < runs_.size(); r++)
        spans_.add_span(runs_[r].row, runs_[r].count);
      spans_.end_segment(rows());
    }
    run_offsets_.push_back(static_cast<int64_t>(runs_.size()));
  }
}

int32_t TokenRows::row_of(int64_t sequence, int64_t position) const {
  auto r = static_cast<size_t>(run_offsets_[static_cast<size_t>(sequence)]);
  while (position >= runs_[r].position + runs_[r].count) r++;
  return static_cast<int32_t>(runs_[r].row + position - runs_[r].position);
}

}  // namespace skillgate
