#include "model/token_rows.h"

#include <random>

#include "check.h"

using namespace skillgate;

// Whatever the sequences: row_of leads to the right token at the right position, and the keys that a
// segment's rows see are exactly the tokens before them in one of the sequences.
TEST(token_rows_follow_the_sequences) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; round++) {
    std::vector<int32_t> tokens, offsets{0};
    const int S = 1 + static_cast<int>(random() % 6);
    for (int s = 0; s < S; s++) {
      std::vector<int32_t> sequence;
      if (s > 0 && random() % 4 != 0) {  // goes on from a beginning of the one before
        const int32_t begin = offsets[static_cast<size_t>(s) - 1], length = offsets.back() - begin;
        const int32_t keep = static_cast<int32_t>(random() % static_cast<uint32_t>(length + 1));
        sequence.assign(tokens.begin() + begin, tokens.begin() + begin + keep);
      }
      const int more = static_cast<int>(random() % 20);
      for (int i = 0; i < more; i++) sequence.push_back(static_cast<int32_t>(random() % 3));
      if (sequence.empty()) sequence.push_back(1);
      tokens.insert(tokens.end(), sequence.begin(), sequence.end());
      offsets.push_back(static_cast<int32_t>(tokens.size()));
    }
    const bool share = random() % 5 != 0;
    const TokenRows rows(tokens.data(), offsets.data(), S, share, 1 + random() % 8);
    EXPECT(rows.rows() <= offsets.back());
    if (!share) EXPECT(rows.rows() == offsets.back());

    const AttentionSpans spans = rows.spans();
    EXPECT(spans.segment_offsets[spans.segments] == rows.rows());
    std::vector<std::vector<int64_t>> keys(static_cast<size_t>(rows.rows()));  // rows each row sees
    for (int64_t g = 0; g < spans.segments; g++) {
      std::vector<int64_t> all;
      for (int64_t j = spans.span_offsets[g]; j < spans.span_offsets[g + 1]; j++)
        for (int64_t i = 0; i < spans.span_count[j]; i++) all.push_back(spans.span_row[j] + i);
      const int64_t first = spans.segment_offsets[g], n = spans.segment_offsets[g + 1] - first;
      for (int64_t i = 0; i < n; i++)
        keys[static_cast<size_t>(first + i)].assign(all.begin(), all.end() - (n - 1 - i));
    }
    for (int s = 0; s < S; s++)
      for (int32_t p = 0; p < offsets[static_cast<size_t>(s) + 1] - offsets[static_cast<size_t>(s)]; p++) {
        const auto row = static_cast<size_t>(rows.row_of(s, p));
        EXPECT(rows.tokens()[row] == tokens[static_cast<size_t>(offsets[static_cast<size_t>(s)] + p)]);
        EXPECT(rows.positions()[row] == p);
        EXPECT(static_cast<int32_t>(keys[row].size()) == p + 1);
        for (int32_t k = 0; k <= p; k++) EXPECT(keys[row][static_cast<size_t>(k)] == rows.row_of(s, k));
      }
  }
}

TEST(a_group_computes_its_prompt_once) {
  std::vector<int32_t> tokens, offsets{0};
  for (int s = 0; s < 8; s++) {
    for (int i = 0; i < 100; i++) tokens.push_back(i % 7);
    for (int i = 0; i < 10; i++) tokens.push_back(10 + s);
    offsets.push_back(static_cast<int32_t>(tokens.size()));
  }
  EXPECT(TokenRows(tokens.data(), offsets.data(), 8, true).rows() == 100 + 8 * 10);
}
