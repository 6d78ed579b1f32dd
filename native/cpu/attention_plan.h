// How a call of attention is cut into tasks. Its memory is used again from call to call.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"

namespace skillgate {

// Segments that share key rows. Gradients of a shared row are summed by one task, over its segments in order.
struct SegmentCluster {
  int64_t first = 0, count = 0;  // in AttentionPlan::segments
  int64_t longest_keys = 0;      // of any of them
  int64_t pairs = 0;             // query-key pairs in all, about
  // Every row has the same position in all segments it belongs to, so that ranges of positions share no row.
  bool aligned = true;
};

// Some queries of one segment.
struct ForwardTask {
  int64_t segment, q0, q1, keys;
};

// Some query blocks of some segments against some key blocks, for one key/value head.
struct BackwardTask {
  const int64_t* segments;
  int64_t segment_count;
  int64_t q_begin, q_end;  // queries, by index in the segment
  int64_t k_begin, k_end;  // positions, k_begin a multiple of kBlockKeys
  bool want_dq, want_dkv;
};

struct AttentionPlan {
  std::vector<SegmentCluster> clusters;
  std::vector<int64_t> segments;  // of all clusters, ascending in each
  std::vector<int64_t> keys;      // of each segment
  std::vector<ForwardTask> forward;
  std::vector<BackwardTask> backward;

  // `rows`: rows of the key tensor.
  void find_clusters(const AttentionSpans& spans, int64_t rows);

 private:
  std::vector<int64_t> parent_, cluster_of_, first_segment_, first_position_;
  std::vector<uint8_t> moved_;
};

}  // namespace skillgate
