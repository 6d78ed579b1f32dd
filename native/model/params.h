// The one table of a model's tensors: name -> shape -> offset. The same offsets serve weights, gradients and
// both moments, each one block of memory; the same names serve files and the public API.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "model/model_config.h"

namespace skillgate {

struct Parameter {
  std::string name;  // as Hugging Face writes it
  std::vector<int64_t> shape;
  int64_t offset = 0;   // in floats, from the start of the block
  bool linear = false;  // the weight of a linear layer, which has a packed form
  int64_t count() const {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    return n;
  }
};

// Indices into ParameterTable::all; -1 where the model has no such tensor.
struct LayerParameters {
  int input_norm = -1, q = -1, k = -1, v = -1, o = -1, q_bias = -1, k_bias = -1, v_bias = -1, o_bias = -1;
  int q_norm = -1, k_norm = -1, post_norm = -1;
  int gate = -1, up = -1, down = -1, gate_bias = -1, up_bias = -1, down_bias = -1;
};

struct ParameterTable {
  std::vector<Parameter> all;
  std::vector<LayerParameters> layers;
  int embedding = -1, final_norm = -1, lm_head = -1;  // lm_head = embedding where the two are tied
  int64_t floats = 0;                                 // length of a block; gaps between tensors stay 0

  // prefix: what stands before "embed_tokens.weight" in the file, "model." as a rule.
  ParameterTable(const ModelConfig& config, const std::string& prefix);
  int find(const std::string& name) const;  // -1: none
};

// Blocks of device memory laid out by a table.
class Parameters {
 public:
  Parameters(Backend& backend, const ParameterTable& table) : backend_(backend), table_(table) {}
  ~Parameters();
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  void allocate();  // cleared; once
  bool allocated() const { return block_ != nullptr; }
  void clear();
  Tensor tensor(int index) const;  // null tensor for -1
  Tensor whole() const;            // [floats]
  int64_t bytes() const;

 private:
  Backend& backend_;
  const ParameterTable& table_;
  float* block_ = nullptr;
};

// The form of every linear weight that the forward product reads, in one block.
class PackedWeights {
 public:
  PackedWeights(Backend& backend, const ParameterTable& table, DType type);
  ~PackedWeights();
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  void pack(const Parameters& weights);  // unless they have not changed since
  void weights_changed() { current_ = false; }
  const void* at(int index) const;  // null where the device needs none
  int64_t bytes() const { return block_ ? bytes_ : 0; }

 private:
  Backend& backend_;
  const ParameterTable& table_;
  const DType type_;
  std::vector<int64_t> offsets_;  // of each parameter; -1: not a linear weight
  int64_t bytes_ = 0;
  char* block_ = nullptr;
  bool current_ = false;
};

}  // namespace skillgate
