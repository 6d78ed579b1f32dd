#include "model/params.h"

namespace skillgate {

namespace {
constexpr int64_t kAlign = 16;  // floats: every tensor starts on a cache line
}

ParameterTable::ParameterTable(const ModelConfig& c, const std::string& prefix) {
  auto add = [&](const std::string& name, std::vector<int64_t> shape, bool linear = false) {
    Parameter p{name, std::move(shape), floats, linear};
    floats += (p.count() + kAlign - 1) / kAlign * kAlign;
    all.push_back(std::move(p));
    return static_cast<int>(all.size()) - 1;
  };
  const bool linear = true;
  embedding = add(prefix + "embed_tokens.weight", {c.V, c.D}, c.tied_embeddings);
  layers.resize(static_cast<size_t>(c.L));
  for (int64_t l = 0; l < c.L; l++) {
    LayerParameters& p = layers[static_cast<size_t>(l)];
    const std::string at = prefix + "layers." + std::to_string(l) + ".";
    p.input_norm = add(at + "input_layernorm.weight", {c.D});
    p.q = add(at + "self_attn.q_proj.weight", {c.H * c.E, c.D}, linear);
    p.k = add(at + "self_attn.k_proj.weight", {c.G * c.E, c.D}, linear);
    p.v = add(at + "self_attn.v_proj.weight", {c.G * c.E, c.D}, linear);
    p.o = add(at + "self_attn.o_proj.weight", {c.D, c.H * c.E}, linear);
    if (c.qkv_bias) {
      p.q_bias = add(at + "self_attn.q_proj.bias", {c.H * c.E});
      p.k_bias = add(at + "self_attn.k_proj.bias", {c.G * c.E});
      p.v_bias = add(at + "self_attn.v_proj.bias", {c.G * c.E});
    }
    if (c.o_bias) p.o_bias = add(at + "self_attn.o_proj.bias", {c.D});
    if (c.qk_norm) {
      p.q_norm = add(at + "self_attn.q_norm.weight", {c.E});
      p.k_norm = add(at + "self_attn.k_norm.weight", {c.E});
    }
    p.post_norm = add(at + "post_attention_layernorm.weight", {c.D});
    p.gate = add(at + "mlp.gate_proj.weight", {c.F, c.D}, linear);
    p.up = add(at + "mlp.up_proj.weight", {c.F, c.D}, linear);
    p.down = add(at + "mlp.down_proj.weight", {c.D, c.F}, linear);
    if (c.mlp_bias) {
      p.gate_bias = add(at + "mlp.gate_proj.bias", {c.F});
      p.up_bias = add(at + "mlp.up_proj.bias", {c.F});
      p.down_bias = add(at + "mlp.down_proj.bias", {c.D});
    }
  }
  final_norm = add(prefix + "norm.weight", {c.D});
  lm_head = c.tied_embeddings ? embedding : add("lm_head.weight", {c.V, c.D}, linear);
}

int ParameterTable::find(const std::string& name) const {
  for (size_t i = 0; i < all.size(); i++)
    if (all[i].name == name) return static_cast<int>(i);
  return -1;
}

Parameters::~Parameters() {
  if (block_) backend_.release(block_);
}

void Parameters::allocate() {
  if (block_) return;
  block_ = static_cast<float*>(backend_.allocate(static_cast<size_t>(table_.floats) * sizeof(float)));
  clear();
}

void Parameters::clear() {
  backend_.zero(block_, static_cast<size_t>(table_.floats) * sizeof(float));
}

Tensor Parameters::tensor(int index) const {
  if (index < 0) return {};
  const Parameter& p = table_.all[static_cast<size_t>(index)];
  float* at = block_ + p.offset;
  return p.shape.size() == 1 ? Tensor(at, DType::f32, {p.shape[0]})
                             : Tensor(at, DType::f32, {p.shape[0], p.shape[1]});
}

Tensor Parameters::whole() const {
  return Tensor(block_, DType::f32, {table_.floats});
}

int64_t Parameters::bytes() const {
  return block_ ? table_.floats * 4 : 0;
}

PackedWeights::PackedWeights(Backend& backend, const ParameterTable& table, DType type)
    : backend_(backend), table_(table), type_(type) {
  for (const Parameter& p : table.all) {
    const int64_t bytes =
        p.linear ? static_cast<int64_t>(backend.packed_bytes(p.shape[0], p.shape[1], type)) : 0;
    offsets_.push_back(bytes > 0 ? bytes_ : -1);
    bytes_ += (bytes + 63) / 64 * 64;
  }
}

PackedWeights::~PackedWeights() {
  if (block_) backend_.release(block_);
}

void PackedWeights::pack(const Parameters& weights) {
  if (current_) return;
  if (!block_ && bytes_ > 0) block_ = static_cast<char*>(backend_.allocate(static_cast<size_t>(bytes_)));
  for (size_t i = 0; i < offsets_.size(); i++)
    if (offsets_[i] >= 0) backend_.pack(block_ + offsets_[i], weights.tensor(static_cast<int>(i)), type_);
  current_ = true;
}

const void* PackedWeights::at(int index) const {
  const int64_t offset = offsets_[static_cast<size_t>(index)];
  return block_ && offset >= 0 ? block_ + offset : nullptr;
}

}  // namespace skillgate
