// The spans of an attention call as lists of work for blocks.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "cuda/cuda_context.h"

namespace skillgate::cuda {

constexpr int kTileRows = 64;  // packed query rows, or key/value rows, that one block owns

// The query heads that share a key/value head are rows of one problem: packed row m = i * (H / G) + j is
// query i of the segment, j-th head of the group. This is kTileRows of them, from m0.
struct QueryTile {
  int64_t query_row;  // of the segment's first query
  int64_t queries, keys;
  int64_t key_begin;  // where the segment's keys start in key_rows
  int64_t m0;
};

// Key/value rows row_begin .. row_end of a KeyTile as one segment sees them: keys from `position` on.
struct KeyItem {
  int64_t row_begin, row_end, position;
  int64_t query_row, queries, keys;
};
struct KeyTile {
  int64_t first_row, item_begin, item_end;
};

// Made again only where the spans differ from the last call's: all layers of a pass have the same.
class AttentionPlan {
 public:
  explicit AttentionPlan(Context& context) : context_(context) {}
  ~AttentionPlan();
  AttentionPlan(const AttentionPlan&) = delete;
  AttentionPlan& operator=(const AttentionPlan&) = delete;

  // rows: of the key/value tensors; group: H / G. Failure ERR_SHAPE where a span leaves the tensors, or a
  // segment has more queries than keys.
  void prepare(const AttentionSpans& spans, int64_t query_rows, int64_t rows, int64_t group);

  // Device memory.
  const QueryTile* query_tiles() const { return static_cast<const QueryTile*>(query_tiles_.data); }
  const int32_t* key_rows() const {
    return static_cast<const int32_t*>(key_rows_.data);
  }  // of all segments' keys
  const KeyTile* key_tiles() const { return static_cast<const KeyTile*>(key_tiles_.data); }
  const KeyItem* key_items() const { return static_cast<const KeyItem*>(key_items_.data); }
  int64_t query_tile_count() const { return query_tile_count_; }
  int64_t key_tile_count() const { return key_tile_count_; }

 private:
  struct Array {
    void* data = nullptr;
    size_t bytes = 0;
  };
  void reserve(Array& a, size_t bytes);
  template <class T>
  void upload(Array& a, const std::vector<T>& values);
  void make_query_tiles(const AttentionSpans& spans, int64_t group);
  void make_key_rows(const AttentionSpans& spans);
  void make_key_tiles(const AttentionSpans& spans, int64_t rows);

  Context& context_;
  std::vector<int64_t> made_for_;     // everything the plan depends on
  std::vector<int64_t> keys_before_;  // [segments + 1] keys of earlier segments
  Array query_tiles_, key_rows_, key_tiles_, key_items_;
  int64_t query_tile_count_ = 0, key_tile_count_ = 0;
};

}  // namespace skillgate::cuda
