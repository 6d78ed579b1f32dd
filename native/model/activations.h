// What a forward pass leaves for the backward pass, in one block of device memory that is planned from the
// number of rows before anything runs and kept from call to call.
#pragma once
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "model/model_config.h"

namespace skillgate {

// A block that only grows; take() hands out pieces of it in order.
class Arena {
 public:
  explicit Arena(Backend& backend) : backend_(backend) {}
  ~Arena() {
    if (block_) backend_.release(block_);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  void reserve(int64_t bytes);  // what was taken before is void
  Tensor take(DType dtype, std::initializer_list<int64_t> shape);
  int64_t bytes() const { return size_; }
  static int64_t need(int64_t elements) { return (elements * 4 + 63) / 64 * 64; }  // of f32 or i32

 private:
  Backend& backend_;
  char* block_ = nullptr;
  int64_t size_ = 0, at_ = 0;
};

// The same memory, the first n rows of it.
inline Tensor first_rows(Tensor t, int64_t n) {
  t.shape[0] = n;
  return t;
}

// One layer's, all [T, ...]; symbols: backend/backend.h.
struct LayerActivations {
  Tensor rstd1;  // [T]
  Tensor q_raw, k_raw, rstd_q,
      rstd_k;           // [T, H, E], [T, G, E], [T*H], [T*G]; only where q and k are normalised
  Tensor q, k, v;       // [T, H, E], [T, G, E] after rope
  Tensor o, lse;        // [T, H, E], [T, H]
  Tensor x_mid, rstd2;  // [T, D] after attention, [T]
  Tensor gate, up;      // [T, F]

  // What follows attention, of n rows.
  LayerActivations first_rows(int64_t n) const {
    LayerActivations a = *this;
    for (Tensor* t : {&a.x_mid, &a.rstd2, &a.gate, &a.up}) t->shape[0] = n;
    return a;
  }
};

// Everything a pass over T rows touches; which tensors share memory depends on the mode.
struct ActivationTensors {
  Tensor tokens, positions, cache_rows, wanted;  // [T] i32
  std::vector<Tensor> x;                         // [L + 1] of [T, D]: x[l] is the input of layer l
  std::vector<LayerActivations> layers;          // [L]
  Tensor x_wanted, o_wanted;                     // [T, D], [T, H, E]: the wanted rows, in the last layer
  Tensor normed, wide;                           // [T, D], [T, F] scratch
  // Backward scratch.
  Tensor dx, dnormed, dx_wanted;           // [T, D]
  Tensor dq, dk, dv, dq_raw, dk_raw, d_o;  // as q, k, v, o
  Tensor dgate, dup, dwide;                // [T, F]
};

struct Activations : ActivationTensors {
  // What is kept: `forward`, for scores only, gives all layers one memory; `recompute` keeps each layer's
  // input; `keep` keeps everything.
  enum class Mode : uint8_t { forward, recompute, keep };

  explicit Activations(Backend& backend) : arena(backend) {}
  void plan(const ModelConfig& config, int64_t rows, Mode mode);
  int64_t bytes_needed(const ModelConfig& config, int64_t rows, Mode mode) const;

  Arena arena;
  Mode mode = Mode::forward;
  int64_t T = 0, W = 0;  // rows, and those whose output is wanted

  Tensor output() const { return first_rows(x.back(), W); }
  Tensor d_output() const { return first_rows(W < T ? dx_wanted : dx, W); }

 private:
  mutable ActivationTensors counted_;  // of bytes_needed, whose memory is used again
};

}  // namespace skillgate
