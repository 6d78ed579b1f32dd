#include "model/decoder.h"

#include <algorithm>
#include <cmath>

#include "backend/status.h"

namespace skillgate {

namespace {
Tensor heads_as_rows(const Tensor& t) {
  return Tensor(t.data, t.dtype, {t.shape[0] * t.shape[1], t.shape[2]});
}
Tensor heads_as_width(const Tensor& t) {
  return Tensor(t.data, t.dtype, {t.shape[0], t.shape[1] * t.shape[2]});
}

void check(const std::atomic<bool>* stop) {
  if (stop && stop->load(std::memory_order_relaxed)) throw Failure("ERR_ABORTED", "the call was aborted");
}
}  // namespace

Decoder::Decoder(Backend& backend, const ModelConfig& config, const ParameterTable& table,
                 const Parameters& weights, const PackedWeights& packed)
    : backend_(backend), config_(config), table_(table), weights_(weights), packed_(packed) {}

Decoder::~Decoder() {
  if (cosine_) backend_.release(cosine_.data);
  if (sine_) backend_.release(sine_.data);
}

// The angle is a float32 product of float32 factors, as the reference implementations form it: at far
// positions its rounding is part of the model.
void Decoder::prepare_rope(int64_t positions) const {
  if (cosine_ && cosine_.shape[0] >= positions) return;
  const int64_t grown = std::max<int64_t>(positions, cosine_ ? 2 * cosine_.shape[0] : 1024),
                half = config_.E / 2;
  const std::vector<float> frequency = rope_frequencies(config_);
  std::vector<float> c(static_cast<size_t>(grown * half)), s(c.size());
  for (int64_t p = 0; p < grown; p++)
    for (int64_t i = 0; i < half; i++) {
      const float angle = static_cast<float>(p) * frequency[static_cast<size_t>(i)];
      c[static_cast<size_t>(p * half + i)] = static_cast<float>(std::cos(static_cast<double>(angle)));
      s[static_cast<size_t>(p * half + i)] = static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  auto replace = [&](Tensor& t, const std::vector<float>& values) {
    if (t) backend_.release(t.data);
    t = Tensor(nullptr, DType::f32, {grown, half});
    t.data = backend_.allocate(t.bytes());
    backend_.upload(t.data, values.data(), t.bytes());
  };
  replace(cosine_, c);
  replace(sine_, s);
}

void Decoder::linear(Tensor y, Tensor x, int weight, int bias) const {
  backend_.linear_forward(y, x, weights_.tensor(weight), packed_.at(weight), weights_.tensor(bias));
}

void Decoder::attention_layer(int64_t l, const DecoderRows& rows, Activations& a, KvCache* cache) const {
  const LayerParameters& p = table_.layers[static_cast<size_t>(l)];
  const LayerActivations& s = a.layers[static_cast<size_t>(l)];
  const Tensor x = a.x[static_cast<size_t>(l)];

  backend_.rmsnorm_forward(a.normed, s.rstd1, x, weights_.tensor(p.input_norm), config_.rms_eps);
  const Tensor &q = config_.qk_norm ? s.q_raw : s.q, &k = config_.qk_norm ? s.k_raw : s.k;
  linear(heads_as_width(q), a.normed, p.q, p.q_bias);
  linear(heads_as_width(k), a.normed, p.k, p.k_bias);
  linear(heads_as_width(s.v), a.normed, p.v, p.v_bias);
  if (config_.qk_norm) {
    backend_.rmsnorm_forward(heads_as_rows(s.q), s.rstd_q, heads_as_rows(q), weights_.tensor(p.q_norm),
                             config_.rms_eps);
    backend_.rmsnorm_forward(heads_as_rows(s.k), s.rstd_k, heads_as_rows(k), weights_.tensor(p.k_norm),
                             config_.rms_eps);
  }
  backend_.rope(s.q, cosine_, sine_, a.positions, false);
  backend_.rope(s.k, cosine_, sine_, a.positions, false);

  Tensor keys = s.k, values = s.v;
  if (cache) {
    keys = cache->keys(l);
    values = cache->values(l);
    backend_.scatter_rows(heads_as_width(keys), heads_as_width(s.k), a.cache_rows);
    backend_.scatter_rows(heads_as_width(values), heads_as_width(s.v), a.cache_rows);
  }
  const float scale = 1.0f / std::sqrt(static_cast<float>(config_.E));
  backend_.attention_forward(s.o, s.lse, s.q, keys, values, rows.spans, scale);
}

// What follows attention, each row for itself: x, o -> x_next.
void Decoder::feed_forward(int64_t l, Activations& a, Tensor x, Tensor o, Tensor x_next) const {
  const LayerParameters& p = table_.layers[static_cast<size_t>(l)];
  const LayerActivations s = a.layers[static_cast<size_t>(l)].first_rows(x.shape[0]);
  const Tensor normed = first_rows(a.normed, x.shape[0]), wide = first_rows(a.wide, x.shape[0]);
  linear(s.x_mid, heads_as_width(o), p.o, p.o_bias);
  backend_.add(s.x_mid, x);

  backend_.rmsnorm_forward(normed, s.rstd2, s.x_mid, weights_.tensor(p.post_norm), config_.rms_eps);
  linear(s.gate, normed, p.gate, p.gate_bias);
  linear(s.up, normed, p.up, p.up_bias);
  backend_.swiglu_forward(wide, s.gate, s.up);
  linear(x_next, wide, p.down, p.down_bias);
  backend_.add(x_next, s.x_mid);
}

void Decoder::layer_forward(int64_t l, const DecoderRows& rows, Activations& a, KvCache* cache) const {
  const auto i = static_cast<size_t>(l);
  attention_layer(l, rows, a, cache);
  if (rows.W < 0 || l + 1 < config_.L) return feed_forward(l, a, a.x[i], a.layers[i].o, a.x[i + 1]);
  if (rows.W == 0) return;
  const Tensor x = first_rows(a.x_wanted, rows.W), o = first_rows(a.o_wanted, rows.W);
  backend_.gather_rows(x, a.x[i], first_rows(a.wanted, rows.W));
  backend_.gather_rows(heads_as_width(o), heads_as_width(a.layers[i].o), first_rows(a.wanted, rows.W));
  feed_forward(l, a, x, o, a.output());
}

void Decoder::forward(const DecoderRows& rows, Activations& a, KvCache* cache,
                      const std::atomic<bool>* stop) const {
  const auto bytes = static_cast<size_t>(rows.T) * sizeof(int32_t);
  prepare_rope(1 + *std::max_element(rows.positions, rows.positions + rows.T));
  backend_.upload(a.tokens.data, rows.tokens, bytes);
  backend_.upload(a.positions.data, rows.positions, bytes);
  if (cache) backend_.upload(a.cache_rows.data, rows.cache_rows, bytes);
  a.W = rows.W < 0 ? rows.T : rows.W;
  if (rows.W > 0) backend_.upload(a.wanted.data, rows.wanted, static_cast<size_t>(rows.W) * sizeof(int32_t));
  backend_.embedding_forward(a.x[0], weights_.tensor(table_.embedding), a.tokens);
  for (int64_t l = 0; l < config_.L; l++) {
    check(stop);
    layer_forward(l, rows, a, cache);
  }
}

void Decoder::layer_backward(int64_t l, const DecoderRows& rows, Activations& a,
                             const Parameters& gradients) const {
  const LayerParameters& p = table_.layers[static_cast<size_t>(l)];
  const LayerActivations& s = a.layers[static_cast<size_t>(l)];
  const Tensor x = a.x[static_cast<size_t>(l)];
  const float eps = config_.rms_eps;
  // dw += dy^T . in, and din = (or +=) dy . w
  auto weight_gradient = [&](int weight, int bias, Tensor dy, Tensor in) {
    backend_.linear_backward_weight(gradients.tensor(weight), gradients.tensor(bias), dy, in);
  };
  auto input_gradient = [&](Tensor din, int weight, Tensor dy, bool accumulate) {
    backend_.linear_backward_input(din, dy, weights_.tensor(weight), packed_.at(weight), accumulate);
  };

  // Each row for itself: of the wanted ones, where the layer is the last.
  const bool some = rows.W >= 0 && l + 1 == config_.L;
  const int64_t n = some ? rows.W : rows.T;
  {
    const LayerActivations m = s.first_rows(n);
    const Tensor dx = some ? a.d_output() : a.dx, o = some ? first_rows(a.o_wanted, n) : s.o;
    const Tensor wide = first_rows(a.wide, n), dwide = first_rows(a.dwide, n), dgate = first_rows(a.dgate, n),
                 dup = first_rows(a.dup, n), normed = first_rows(a.normed, n),
                 dnormed = first_rows(a.dnormed, n);
    backend_.swiglu_forward(wide, m.gate, m.up);
    weight_gradient(p.down, p.down_bias, dx, wide);
    input_gradient(dwide, p.down, dx, false);
    backend_.swiglu_backward(dgate, dup, dwide, m.gate, m.up);
    backend_.rmsnorm_forward(normed, m.rstd2, m.x_mid, weights_.tensor(p.post_norm), eps);
    weight_gradient(p.gate, p.gate_bias, dgate, normed);
    weight_gradient(p.up, p.up_bias, dup, normed);
    input_gradient(dnormed, p.gate, dgate, false);
    input_gradient(dnormed, p.up, dup, true);
    backend_.rmsnorm_backward(dx, gradients.tensor(p.post_norm), dnormed, m.x_mid,
                              weights_.tensor(p.post_norm), m.rstd2, true);
    weight_gradient(p.o, p.o_bias, dx, heads_as_width(o));
    if (!some) {
      input_gradient(heads_as_width(a.d_o), p.o, dx, false);
    } else {
      const Tensor d_o = heads_as_width(o);  // its values are used up
      input_gradient(d_o, p.o, dx, false);
      backend_.zero(a.d_o.data, a.d_o.bytes());
      backend_.scatter_rows(heads_as_width(a.d_o), d_o, first_rows(a.wanted, n));
      backend_.zero(a.dx.data, a.dx.bytes());
      backend_.scatter_rows(a.dx, dx, first_rows(a.wanted, n));
    }
  }

  backend_.zero(a.dk.data, a.dk.bytes());
  backend_.zero(a.dv.data, a.dv.bytes());
  const float scale = 1.0f / std::sqrt(static_cast<float>(config_.E));
  backend_.attention_backward(a.dq, a.dk, a.dv, a.d_o, s.o, s.lse, s.q, s.k, s.v, rows.spans, scale);
  backend_.rope(a.dq, cosine_, sine_, a.positions, true);
  backend_.rope(a.dk, cosine_, sine_, a.positions, true);
  Tensor dq = a.dq, dk = a.dk;
  if (config_.qk_norm) {
    backend_.rmsnorm_backward(heads_as_rows(a.dq_raw), gradients.tensor(p.q_norm), heads_as_rows(dq),
                              heads_as_rows(s.q_raw), weights_.tensor(p.q_norm), s.rstd_q, false);
    backend_.rmsnorm_backward(heads_as_rows(a.dk_raw), gradients.tensor(p.k_norm), heads_as_rows(dk),
                              heads_as_rows(s.k_raw), weights_.tensor(p.k_norm), s.rstd_k, false);
    dq = a.dq_raw;
    dk = a.dk_raw;
  }
  backend_.rmsnorm_forward(a.normed, s.rstd1, x, weights_.tensor(p.input_norm), eps);
  weight_gradient(p.q, p.q_bias, heads_as_width(dq), a.normed);
  weight_gradient(p.k, p.k_bias, heads_as_width(dk), a.normed);
  weight_gradient(p.v, p.v_bias, heads_as_width(a.dv), a.normed);
  input_gradient(a.dnormed, p.q, heads_as_width(dq), false);
  input_gradient(a.dnormed, p.k, heads_as_width(dk), true);
  input_gradient(a.dnormed, p.v, heads_as_width(a.dv), true);
  backend_.rmsnorm_backward(a.dx, gradients.tensor(p.input_norm), a.dnormed, x, weights_.tensor(p.input_norm),
                            s.rstd1, true);
}

void Decoder::backward(const DecoderRows& rows, Activations& a, const Parameters& gradients,
                       const std::atomic<bool>* stop) const {
  for (int64_t l = config_.L - 1; l >= 0; l--) {
    check(stop);
    if (a.mode == Activations::Mode::recompute) layer_forward(l, rows, a, nullptr);
    layer_backward(l, rows, a, gradients);
  }
  backend_.embedding_backward(gradients.tensor(table_.embedding), a.dx, a.tokens);
}

}  // namespace skillgate
