// What the forward and the backward pass of attention share: blocks of keys, blocks of queries, packed
// panels.
#pragma once
#include <algorithm>
#include <cstdint>

#include "backend/backend.h"
#include "cpu/attention.h"
#include "cpu/kernels.h"

namespace skillgate {

// Walks the key rows of a segment in position order.
class KeyCursor {
 public:
  KeyCursor(const AttentionSpans& spans, int64_t segment)
      : spans_(spans), span_(spans.span_offsets[segment]), end_(spans.span_offsets[segment + 1]) {}

  void skip(int64_t count) {
    while (count > 0 && span_ < end_) {
      int64_t step = std::min(count, spans_.span_count[span_] - used_);
      advance(step);
      count -= step;
    }
  }

  // The next `count` rows (fewer at the end); returns how many.
  int next(int count, int64_t* rows) {
    int n = 0;
    while (n < count && span_ < end_) {
      int64_t step = std::min<int64_t>(count - n, spans_.span_count[span_] - used_);
      for (int64_t i = 0; i < step; ++i) rows[n++] = spans_.span_row[span_] + used_ + i;
      advance(step);
    }
    return n;
  }

 private:
  void advance(int64_t step) {
    used_ += step;
    if (used_ == spans_.span_count[span_]) {
      ++span_;
      used_ = 0;
    }
  }

  const AttentionSpans& spans_;
  int64_t span_, end_, used_ = 0;
};

inline int64_t segment_queries(const AttentionSpans& spans, int64_t s) {
  return spans.segment_offsets[s + 1] - spans.segment_offsets[s];
}

inline int64_t segment_keys(const AttentionSpans& spans, int64_t s) {
  int64_t n = 0;
  for (int64_t j = spans.span_offsets[s]; j < spans.span_offsets[s + 1]; ++j) n += spans.span_count[j];
  return n;
}

// Cuts E columns into panels of tile_cols, the last one perhaps of a single vector.
struct HeadPanels {
  HeadPanels(const Kernels& k, int64_t E) : width(k.tile_cols), columns(static_cast<int>(E)) {
    count = (columns + width - 1) / width;
    int last = columns - (count - 1) * width;
    last_vectors = last <= k.width ? 1 : 2;
    padded = (count - 1) * width + last_vectors * k.width;
  }
  int vectors(int p) const { return p + 1 < count ? 2 : last_vectors; }
  int first(int p) const { return p * width; }
  int size(int p) const { return std::min(width, columns - first(p)); }

  int width, columns, count, last_vectors, padded;
};

// Panel p of `rows` rows: [rows, its width] from first(p) * rows on.
inline void pack_head_panels(const Kernels& k, const HeadPanels& panels, float* to, const float* const* from,
                             int rows) {
  for (int p = 0; p < panels.count; ++p) {
    k.pack_panel(to + panels.first(p) * rows, from, rows, panels.first(p), panels.size(p),
                 panels.vectors(p) * k.width);
  }
}

// Keys as columns: panels of tile_cols keys, each [E, tile_cols], for the scores of a block.
inline void pack_key_columns(const Kernels& k, float* to, const float* const* from, int keys, int64_t E) {
  for (int j = 0; j < keys; j += k.tile_cols) {
    k.transpose(to + j * E, k.tile_cols, from + j, std::min(k.tile_cols, keys - j), k.tile_cols, 0, E);
  }
}

// A block of consecutive queries of one segment and all query heads of one key/value head. Row r is query
// first + r / heads, head r % heads of the group; rows go in tiles.
struct QueryBlock {
  QueryBlock(const Kernels& k, const AttentionSpans& spans, const AttentionShape& shape, int64_t segment,
             int64_t g, int64_t q0, int64_t q1, int64_t keys)
      : heads(static_cast<int>(shape.H / shape.G)),
        rows(static_cast<int>((q1 - q0) * heads)),
        tiles((rows + k.tile_rows - 1) / k.tile_rows),
        H(shape.H),
        first_row(spans.segment_offsets[segment] + q0),
        first_head(g * heads),
        first_visible(keys - segment_queries(spans, segment) + q0 + 1) {}

  int start(int tile) const { return tile_start(rows, tiles, tile); }
  // Index of row r in [T, H].
  int64_t at(int r) const { return (first_row + r / heads) * H + first_head + r % heads; }
  int64_t visible(int r) const { return first_visible + r / heads; }
  // Of a block of `keys` keys from position k0 on, how many row r sees.
  int visible_in(int r, int64_t k0, int keys) const {
    return static_cast<int>(std::clamp<int64_t>(visible(r) - k0, 0, keys));
  }

  int heads, rows, tiles;
  int64_t H, first_row, first_head, first_visible;
};

// Queries a block, so that its rows are enough to pay for packing the keys and still fit in the cache.
inline int64_t queries_a_block(const AttentionShape& shape) {
  int64_t rows = shape.E <= 128 ? 112 : 56;
  return std::max<int64_t>(1, rows / (shape.H / shape.G));
}

// Tile t of rows x [*, E] chosen by block.at, times scale: [E, rows of the tile] from start(t) * E on.
inline void pack_query_tiles(const Kernels& k, const QueryBlock& block, float* to, const float* x, int64_t E,
                             float scale) {
  for (int t = 0; t < block.tiles; ++t) {
    int start = block.start(t), n = block.start(t + 1) - start;
    const float* from[kMaxTileRows];
    for (int i = 0; i < n; ++i) from[i] = x + block.at(start + i) * E;
    k.transpose(to + start * E, n, from, n, n, 0, E);
  }
  if (scale != 1.f) k.scale(to, to, scale, block.rows * E);
}

// scores [n, kBlockKeys] of one tile against `keys` packed columns.
inline void tile_scores(const Kernels& k, float* scores, const float* tile, int n, const float* columns,
                        int keys, int64_t E) {
  for (int j = 0; j < keys; j += k.tile_cols) {
    k.tile[static_cast<int>(TileForm::packed)][1][n - 1](E, tile, columns + j * E, scores + j, kBlockKeys,
                                                         false, nullptr);
  }
}

// to [n, padded] += or = weights . panels [*, padded]; weights in the given form, the sum over `count` rows
// of panels.
inline void tile_times_panels(const Kernels& k, const HeadPanels& panels, TileForm form, float* to,
                              const float* weights, int n, const float* packed, int packed_rows, int skip,
                              int count, bool add) {
  for (int p = 0; p < panels.count; ++p) {
    const int width = panels.vectors(p) * k.width;
    k.tile[static_cast<int>(form)][panels.vectors(p) - 1][n - 1](
        count, weights, packed + panels.first(p) * packed_rows + skip * width, to + panels.first(p),
        panels.padded, add, nullptr);
  }
}

}  // namespace skillgate
