#include "model/activations.h"

#include "backend/status.h"

namespace skillgate {

void Arena::reserve(int64_t bytes) {
  at_ = 0;
  if (bytes <= size_) return;
  if (block_) backend_.release(block_);
  block_ = nullptr;
  size_ = 0;
  block_ = static_cast<char*>(backend_.allocate(static_cast<size_t>(bytes)));
  size_ = bytes;
}

Tensor Arena::take(DType dtype, std::initializer_list<int64_t> shape) {
  Tensor t(block_ + at_, dtype, shape);
  at_ += need(static_cast<int64_t>((t.bytes() + 3) / 4));
  if (at_ > size_) throw Failure("ERR_INTERNAL", "the activations' plan is too small");
  return t;
}

namespace {
// Walks the plan twice: with no arena it counts bytes, with one it hands out tensors. So the two cannot
// disagree.
struct Planner {
  Arena* arena;
  int64_t bytes = 0;
  Tensor operator()(std::initializer_list<int64_t> shape, DType dtype = DType::f32) {
    if (arena) return arena->take(dtype, shape);
    Tensor t(nullptr, dtype, shape);
    bytes += Arena::need(t.count());
    return t;
  }
};

LayerActivations layer(Planner& take, const ModelConfig& c, int64_t T) {
  LayerActivations a;
  a.rstd1 = take({T});
  if (c.qk_norm) {
    a.q_raw = take({T, c.H, c.E});
    a.k_raw = take({T, c.G, c.E});
    a.rstd_q = take({T * c.H});
    a.rstd_k = take({T * c.G});
  }
  a.q = take({T, c.H, c.E});
  a.k = take({T, c.G, c.E});
  a.v = take({T, c.G, c.E});
  a.o = take({T, c.H, c.E});
  a.lse = take({T, c.H});
  a.x_mid = take({T, c.D});
  a.rstd2 = take({T});
  a.gate = take({T, c.F});
  a.up = take({T, c.F});
  return a;
}

void walk(Planner& take, ActivationTensors& a, const ModelConfig& c, int64_t T, Activations::Mode mode) {
  using Mode = Activations::Mode;
  const auto L = static_cast<size_t>(c.L);
  a.tokens = take({T}, DType::i32);
  a.positions = take({T}, DType::i32);
  a.cache_rows = take({T}, DType::i32);
  a.wanted = take({T}, DType::i32);
  a.x.clear();
  a.layers.clear();
  a.x.push_back(take({T, c.D}));
  for (size_t l = 0; l < L; l++) a.x.push_back(mode == Mode::forward ? a.x[0] : take({T, c.D}));
  a.layers.push_back(layer(take, c, T));
  for (size_t l = 1; l < L; l++) a.layers.push_back(mode == Mode::keep ? layer(take, c, T) : a.layers[0]);
  a.x_wanted = take({T, c.D});
  a.o_wanted = take({T, c.H, c.E});
  a.normed = take({T, c.D});
  a.wide = take({T, c.F});
  if (mode == Mode::forward) return;
  a.dx = take({T, c.D});
  a.dx_wanted = take({T, c.D});
  a.dnormed = take({T, c.D});
  a.dq = take({T, c.H, c.E});
  a.dk = take({T, c.G, c.E});
  a.dv = take({T, c.G, c.E});
  if (c.qk_norm) {
    a.dq_raw = take({T, c.H, c.E});
    a.dk_raw = take({T, c.G, c.E});
  }
  a.d_o = take({T, c.H, c.E});
  a.dgate = take({T, c.F});
  a.dup = take({T, c.F});
  a.dwide = take({T, c.F});
}
}  // namespace

int64_t Activations::bytes_needed(const ModelConfig& config, int64_t rows, Mode mode) const {
  Planner count{nullptr};
  walk(count, counted_, config, rows, mode);
  return count.bytes;
}

void Activations::plan(const ModelConfig& config, int64_t rows, Mode m) {
  const int64_t bytes = bytes_needed(config, rows, m);
  try {
    arena.reserve(bytes);
  } catch (const Failure& e) {
    throw Failure(e.code(),
                  "activations of " + std::to_string(rows) + " tokens need " + std::to_string(bytes >> 20) +
                      " MiB: " + e.what() +
                      (m == Mode::keep ? "; recompute or a smaller token budget a micro-batch lowers it"
                                       : "; a smaller token budget a micro-batch lowers it"));
  }
  Planner take{&arena};
  walk(take, *this, config, rows, m);
  T = rows;
  mode = m;
}

}  // namespace skillgate
