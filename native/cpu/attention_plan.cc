#include "cpu/attention_plan.h"

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

void AttentionPlan::find_clusters(const AttentionSpans& spans, int64_t rows) {
  const auto n = static_cast<size_t>(spans.segments);
  parent_.resize(n);
  std::iota(parent_.begin(), parent_.end(), 0);
  first_segment_.assign(static_cast<size_t>(rows), -1);
  first_position_.resize(static_cast<size_t>(rows));
  moved_.assign(n, 0);
  for (int64_t s = 0; s < spans.segments; ++s) {
    int64_t position = 0;
    for (int64_t j = spans.span_offsets[s]; j < spans.span_offsets[s + 1]; ++j) {
      for (int64_t i = 0; i < spans.span_count[j]; ++i, ++position) {
        const int64_t row = spans.span_row[j] + i;
        if (first_segment_[row] < 0) {
          first_segment_[row] = s;
          first_position_[row] = position;
          continue;
        }
        if (first_position_[row] != position) moved_[s] = 1;
        const int64_t a = root_of(parent_, first_segment_[row]), b = root_of(parent_, s);
        parent_[std::max(a, b)] = std::min(a, b);
      }
    }
  }

  clusters.clear();
  cluster_of_.assign(n, -1);
  keys.resize(n);
  for (int64_t s = 0; s < spans.segments; ++s) {
    const int64_t root = root_of(parent_, s);  // the smallest segment of its cluster
    if (root == s) {
      cluster_of_[s] = static_cast<int64_t>(clusters.size());
      clusters.emplace_back();
    }
    cluster_of_[s] = cluster_of_[root];
    SegmentCluster& cluster = clusters[cluster_of_[s]];
    const int64_t queries = segment_queries(spans, s);
    keys[s] = segment_keys(spans, s);
    cluster.count++;
    cluster.longest_keys = std::max(cluster.longest_keys, keys[s]);
    cluster.pairs += queries * (keys[s] - queries / 2);
    if (moved_[s]) cluster.aligned = false;
  }
  int64_t first = 0;
  for (SegmentCluster& cluster : clusters) {
    cluster.first = first;
    first += cluster.count;
    cluster.count = 0;
  }
  segments.resize(n);
  for (int64_t s = 0; s < spans.segments; ++s) {
    SegmentCluster& cluster = clusters[cluster_of_[s]];
    segments[cluster.first + cluster.count++] = s;
  }
}

}  // namespace skillgate
