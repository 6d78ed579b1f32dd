// Keys and values of past tokens, in pages of kPage rows that sequences own or share.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "model/model_config.h"

namespace skillgate {

class KvCache {
 public:
  static constexpr int64_t kPage = 32;

  KvCache(Backend& backend, const ModelConfig& config);
  ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  int32_t take_page();  // one reference; grows the cache where none is free
  void share_page(int32_t page) { references_[static_cast<size_t>(page)]++; }
  void drop_page(int32_t page);
  bool shared(int32_t page) const { return references_[static_cast<size_t>(page)] > 1; }
  void copy_rows(int32_t from_page, int32_t to_page, int64_t rows);  // the first rows of a page, every layer

  Tensor keys(int64_t layer) const { return keys_[static_cast<size_t>(layer)]; }      // [rows, G, E]
  Tensor values(int64_t layer) const { return values_[static_cast<size_t>(layer)]; }  // [rows, G, E]
  int64_t bytes() const;
  int64_t pages_in_use() const { return static_cast<int64_t>(references_.size() - free_.size()); }

 private:
  void grow();
  Backend& backend_;
  int64_t layers_, heads_, width_;
  std::vector<Tensor> keys_, values_;
  std::vector<int32_t> references_, free_;
};

}  // namespace skillgate
