// Which segments share key rows. Gradients of a shared row are summed by one task, over its segments in
// order.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"

namespace skillgate {

struct SegmentCluster {
  std::vector<int64_t> segments;  // ascending
  int64_t longest_keys = 0;       // of any of them
  int64_t pairs = 0;              // query-key pairs in all, about
  // Every row has the same position in all segments it belongs to, so that ranges of positions share no row.
  bool aligned = true;
};

// `rows`: rows of the key tensor.
std::vector<SegmentCluster> cluster_segments(const AttentionSpans& spans, int64_t rows);

}  // namespace skillgate
