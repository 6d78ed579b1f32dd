#include "cpu/attention_clusters.h"

#include <algorithm>
#include <numeric>

#include "cpu/attention_blocks.h"

namespace skillgate {
namespace {

int64_t root_of(std::vector<int64_t>& parent, int64_t s) {
  while (parent[s] != s) s = parent[s] = parent[parent[s]];
  return s;
}

}  // namespace

std::vector<SegmentCluster> cluster_segments(const AttentionSpans& spans, int64_t rows) {
  std::vector<int64_t> parent(static_cast<size_t>(spans.segments));
  std::iota(parent.begin(), parent.end(), 0);
  std::vector<int64_t> first_segment(static_cast<size_t>(rows), -1),
      first_position(static_cast<size_t>(rows), 0);
  std::vector<uint8_t> moved(static_cast<size_t>(spans.segments), 0);
  for (int64_t s = 0; s < spans.segments; ++s) {
    int64_t position = 0;
    for (int64_t j = spans.span_offsets[s]; j < spans.span_offsets[s + 1]; ++j) {
      for (int64_t i = 0; i < spans.span_count[j]; ++i, ++position) {
        const int64_t row = spans.span_row[j] + i;
        if (first_segment[row] < 0) {
          first_segment[row] = s;
          first_position[row] = position;
          continue;
        }
        if (first_position[row] != position) moved[s] = 1;
        const int64_t a = root_of(parent, first_segment[row]), b = root_of(parent, s);
        parent[std::max(a, b)] = std::min(a, b);
      }
    }
  }
  std::vector<SegmentCluster> clusters;
  std::vector<int64_t> cluster_of(static_cast<size_t>(spans.segments), -1);
  for (int64_t s = 0; s < spans.segments; ++s) {
    const int64_t root = root_of(parent, s);
    if (cluster_of[root] < 0) {
      cluster_of[root] = static_cast<int64_t>(clusters.size());
      clusters.emplace_back();
    }
    SegmentCluster& cluster = clusters[cluster_of[root]];
    const int64_t queries = segment_queries(spans, s), keys = segment_keys(spans, s);
    cluster.segments.push_back(s);
    cluster.longest_keys = std::max(cluster.longest_keys, keys);
    cluster.pairs += queries * (keys - queries / 2);
    if (moved[s]) cluster.aligned = false;
  }
  return clusters;
}

}  // namespace skillgate
