// Sequences -> rows of one forward pass. The common prefix of neighbouring sequences becomes one set of rows:
// its forward and backward are computed once, and each sequence finds the row of any of its tokens through
// `row_of`.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"

namespace skillgate {

// Owns what AttentionSpans points to.
struct SpanList {
  std::vector<int64_t> segment_offsets{0}, span_offsets{0}, span_row, span_count;
  void add_span(int64_t row, int64_t count) {
    span_row.push_back(row);
    span_count.push_back(count);
  }
  void end_segment(int64_t end_row) {
    segment_offsets.push_back(end_row);
    span_offsets.push_back(static_cast<int64_t>(span_row.size()));
  }
  void clear() {
    segment_offsets.assign(1, 0);
    span_offsets.assign(1, 0);
    span_row.clear();
    span_count.clear();
  }
  AttentionSpans view() const {
    return {static_cast<int64_t>(segment_offsets.size()) - 1, segment_offsets.data(), span_offsets.data(),
            span_row.data(), span_count.data()};
  }
};

class TokenRows {
 public:
  TokenRows() = default;
  TokenRows(const int32_t* tokens, const int32_t* offsets, int64_t sequences, bool share,
            int64_t min_shared = 8) {
    assign(tokens, offsets, sequences, share, min_shared);
  }
  // In the memory of earlier calls. offsets [sequences + 1]. A shared prefix shorter than min_shared tokens is
  // not worth a segment of its own.
  void assign(const int32_t* tokens, const int32_t* offsets, int64_t sequences, bool share,
              int64_t min_shared = 8);

  int64_t rows() const { return static_cast<int64_t>(tokens_.size()); }
  const std::vector<int32_t>& tokens() const { return tokens_; }        // [rows]
  const std::vector<int32_t>& positions() const { return positions_; }  // [rows]
  AttentionSpans spans() const { return spans_.view(); }
  int32_t row_of(int64_t sequence, int64_t position) const;
  int64_t longest() const { return longest_; }

 private:
  struct Run {
    int64_t position, row, count;
  };
  std::vector<int32_t> tokens_, positions_;
  SpanList spans_;
  std::vector<Run> runs_;                // of all sequences, each in position order
  std::vector<int64_t> run_offsets_{0};  // [sequences + 1]
  int64_t longest_ = 0;
};

}  // namespace skillgate
