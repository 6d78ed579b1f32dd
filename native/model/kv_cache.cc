#include "model/kv_cache.h"

#include <algorithm>

namespace skillgate {

KvCache::KvCache(Backend& backend, const ModelConfig& config)
    : backend_(backend), layers_(config.L), heads_(config.G), width_(config.E) {
  keys_.resize(static_cast<size_t>(layers_));
  values_.resize(static_cast<size_t>(layers_));
}

KvCache::~KvCache() {
  for (const Tensor& t : keys_)
    if (t) backend_.release(t.data);
  for (const Tensor& t : values_)
    if (t) backend_.release(t.data);
}

void KvCache::grow() {
  const auto before = static_cast<int64_t>(references_.size());
  const int64_t pages = std::max<int64_t>(before + before / 2, 64);
  auto enlarge = [&](Tensor& t) {
    Tensor larger(nullptr, DType::f32, {pages * kPage, heads_, width_});
    larger.data = backend_.allocate(larger.bytes());
    if (t) {
      backend_.copy(larger.data, t.data, t.bytes());
      backend_.release(t.data);
    }
    t = larger;
  };
  for (Tensor& t : keys_) enlarge(t);
  for (Tensor& t : values_) enlarge(t);
  references_.resize(static_cast<size_t>(pages), 0);
  for (int64_t p = pages - 1; p >= before; p--) free_.push_back(static_cast<int32_t>(p));
}

int32_t KvCache::take_page() {
  if (free_.empty()) grow();
  const int32_t page = free_.back();
  free_.pop_back();
  references_[static_cast<size_t>(page)] = 1;
  return page;
}

void KvCache::drop_page(int32_t page) {
  if (--references_[static_cast<size_t>(page)] == 0) free_.push_back(page);
}

void KvCache::copy_rows(int32_t from_page, int32_t to_page, int64_t rows) {
  const int64_t row = heads_ * width_;
  const auto bytes = static_cast<size_t>(rows * row) * sizeof(float);
  auto copy = [&](const Tensor& t) {
    backend_.copy(t.f32() + to_page * kPage * row, t.f32() + from_page * kPage * row, bytes);
  };
  for (const Tensor& t : keys_) copy(t);
  for (const Tensor& t : values_) copy(t);
}

int64_t KvCache::bytes() const {
  int64_t n = 0;
  for (const Tensor& t : keys_) n += t ? static_cast<int64_t>(t.bytes()) : 0;
  return 2 * n;
}

}  // namespace skillgate
