#include <algorithm>
#include <string>

#include "backend/status.h"
#include "cuda/attention_plan.h"

namespace skillgate::cuda {
namespace {

// One run of neighbouring key rows, `begin` keys from the start of key_rows.
struct KeyRun {
  int64_t begin, row;
};

__global__ void expand_runs_kernel(int32_t* key_rows, int64_t keys, const KeyRun* runs, int64_t count) {
  for (int64_t at = first_element(); at < keys; at += all_threads()) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
      const int64_t middle = (low + high + 1) / 2;
      if (runs[middle].begin <= at) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    key_rows[at] = static_cast<int32_t>(runs[low].row + at - runs[low].begin);
  }
}

[[noreturn]] void wrong(const std::string& text) {
  throw Failure("ERR_SHAPE", "attention spans: " + text);
}

}  // namespace

AttentionPlan::~AttentionPlan() {
  for (const Array* a : {&query_tiles_, &key_rows_, &key_tiles_, &key_items_}) context_.release(a->data);
}

void AttentionPlan::reserve(Array& a, size_t bytes) {
  if (bytes <= a.bytes) return;
  context_.release(a.data);
  a = {};
  a.data = context_.allocate(bytes);
  a.bytes = bytes;
}

template <class T>
void AttentionPlan::upload(Array& a, const std::vector<T>& values) {
  reserve(a, values.size() * sizeof(T));
  context_.upload(a.data, values.data(), values.size() * sizeof(T));
}

void AttentionPlan::prepare(const AttentionSpans& s, int64_t query_rows, int64_t rows, int64_t group) {
  std::vector<int64_t> wanted{s.segments, query_rows, rows, group};
  const int64_t runs = s.segments > 0 ? s.span_offsets[s.segments] : 0;
  wanted.insert(wanted.end(), s.segment_offsets, s.segment_offsets + s.segments + 1);
  wanted.insert(wanted.end(), s.span_offsets, s.span_offsets + s.segments + 1);
  wanted.insert(wanted.end(), s.span_row, s.span_row + runs);
  wanted.insert(wanted.end(), s.span_count, s.span_count + runs);
  if (wanted == made_for_) return;
  made_for_.clear();  // nothing is valid should the rest fail

  if (rows > INT32_MAX) wrong("at most 2^31 - 1 key/value rows, got " + std::to_string(rows));
  keys_before_.assign(1, 0);
  for (int64_t i = 0; i < s.segments; i++) {
    int64_t keys = 0;
    for (int64_t j = s.span_offsets[i]; j < s.span_offsets[i + 1]; j++) {
      if (s.span_row[j] < 0 || s.span_count[j] < 0 || s.span_row[j] + s.span_count[j] > rows)
        wrong("expected rows of 0 .. " + std::to_string(rows) + ", got " + std::to_string(s.span_count[j]) +
              " from " + std::to_string(s.span_row[j]));
      keys += s.span_count[j];
    }
    const int64_t queries = s.segment_offsets[i + 1] - s.segment_offsets[i];
    if (queries < 0 || keys < queries || s.segment_offsets[i] < 0 || s.segment_offsets[i + 1] > query_rows)
      wrong("segment " + std::to_string(i) + " has " + std::to_string(queries) + " queries and " +
            std::to_string(keys) + " keys");
    keys_before_.push_back(keys_before_.back() + keys);
  }
  make_query_tiles(s, group);
  make_key_rows(s);
  make_key_tiles(s, rows);
  made_for_ = std::move(wanted);
}

// The last tiles of a segment see the most keys: they come first, so that the long blocks do not run last.
void AttentionPlan::make_query_tiles(const AttentionSpans& s, int64_t group) {
  std::vector<QueryTile> tiles;
  for (int64_t i = 0; i < s.segments; i++) {
    const int64_t queries = s.segment_offsets[i + 1] - s.segment_offsets[i];
    for (int64_t m0 = 0; m0 < queries * group; m0 += kTileRows)
      tiles.push_back({s.segment_offsets[i], queries,
                       keys_before_[static_cast<size_t>(i) + 1] - keys_before_[static_cast<size_t>(i)],
                       keys_before_[static_cast<size_t>(i)], m0});
  }
  std::stable_sort(tiles.begin(), tiles.end(), [group](const QueryTile& a, const QueryTile& b) {
    return a.keys - a.queries + a.m0 / group > b.keys - b.queries + b.m0 / group;
  });
  query_tile_count_ = static_cast<int64_t>(tiles.size());
  upload(query_tiles_, tiles);
}

void AttentionPlan::make_key_rows(const AttentionSpans& s) {
  std::vector<KeyRun> runs;
  int64_t keys = 0;
  for (int64_t j = 0; j < (s.segments > 0 ? s.span_offsets[s.segments] : 0); j++) {
    if (s.span_count[j] == 0) continue;
    runs.push_back({keys, s.span_row[j]});
    keys += s.span_count[j];
  }
  if (keys == 0) return;
  reserve(key_rows_, static_cast<size_t>(keys) * sizeof(int32_t));
  Context::Scratch scratch(context_);
  const KeyRun* device_runs = scratch.upload(runs.data(), static_cast<int64_t>(runs.size()));
  const int64_t blocks = std::min<int64_t>(ceil_div<int64_t>(keys, 256), 4096);
  context_.launch("expand_runs", expand_runs_kernel, dim3(static_cast<unsigned>(blocks)), 256, 0,
                  static_cast<int32_t*>(key_rows_.data), keys, device_runs,
                  static_cast<int64_t>(runs.size()));
}

void AttentionPlan::make_key_tiles(const AttentionSpans& s, int64_t rows) {
  std::vector<std::vector<KeyItem>> of_tile(static_cast<size_t>(ceil_div<int64_t>(rows, kTileRows)));
  for (int64_t i = 0; i < s.segments; i++) {
    const int64_t queries = s.segment_offsets[i + 1] - s.segment_offsets[i];
    if (queries == 0) continue;
    const int64_t keys = keys_before_[static_cast<size_t>(i) + 1] - keys_before_[static_cast<size_t>(i)];
    int64_t position = 0;
    for (int64_t j = s.span_offsets[i]; j < s.span_offsets[i + 1]; j++) {
      const int64_t end = s.span_row[j] + s.span_count[j];
      for (int64_t row = s.span_row[j]; row < end;) {
        const int64_t stop = std::min(end, (row / kTileRows + 1) * kTileRows);
        of_tile[static_cast<size_t>(row / kTileRows)].push_back(
            {row, stop, position, s.segment_offsets[i], queries, keys});
        position += stop - row;
        row = stop;
      }
    }
  }
  std::vector<KeyTile> tiles;
  std::vector<KeyItem> items;
  for (size_t t = 0; t < of_tile.size(); t++) {
    if (of_tile[t].empty()) continue;
    const auto begin = static_cast<int64_t>(items.size());
    items.insert(items.end(), of_tile[t].begin(), of_tile[t].end());
    tiles.push_back({static_cast<int64_t>(t) * kTileRows, begin, static_cast<int64_t>(items.size())});
  }
  key_tile_count_ = static_cast<int64_t>(tiles.size());
  upload(key_tiles_, tiles);
  upload(key_items_, items);
}

}  // namespace skillgate::cuda
