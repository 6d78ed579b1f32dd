// Loading a policy from a folder, reading and writing its tensors, saving it.
#include "train/policy.h"

#include <set>

#include "backend/status.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "train/policy_state.h"

namespace skillgate {

namespace {
// What stands before "embed_tokens.weight": "model." in most files, nothing in some.
std::string find_prefix(const SafetensorsReader& reader) {
  const std::string tail = "embed_tokens.weight";
  std::string found;
  for (const auto& [name, entry] : reader.entries()) {
    if (name.size() < tail.size() || name.compare(name.size() - tail.size(), tail.size(), tail) != 0)
      continue;
    if (!found.empty())
      throw Failure("ERR_SAFETENSORS", "expected one embed_tokens.weight, found " + found + " and " + name);
    found = name;
  }
  if (found.empty())
    throw Failure("ERR_MISSING_TENSOR", "no tensor embed_tokens.weight (with any prefix) in the weights");
  return found.substr(0, found.size() - tail.size());
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); i++) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

void read_block(const SafetensorsReader& reader, const std::string& prefix, const ParameterTable& table,
                const Parameters& block, Backend& backend) {
  std::vector<float> host;
  for (size_t i = 0; i < table.all.size(); i++) {
    const Parameter& p = table.all[i];
    const SafetensorsReader::Entry* e = reader.find(prefix + p.name);
    if (!e)
      throw Failure("ERR_MISSING_TENSOR",
                    "no tensor " + prefix + p.name + " of shape " + shape_text(p.shape));
    if (e->shape != p.shape)
      throw Failure("ERR_SHAPE", "tensor " + prefix + p.name + ": expected shape " + shape_text(p.shape) +
                                     ", got " + shape_text(e->shape));
    host.resize(static_cast<size_t>(p.count()));
    reader.read_f32(prefix + p.name, host.data());
    backend.upload(block.tensor(static_cast<int>(i)).data, host.data(), host.size() * sizeof(float));
  }
}

void append_block(const Parameters& block, Backend& backend, size_t i, const AppendBytes& append) {
  const Tensor t = block.tensor(static_cast<int>(i));
  std::vector<char> host(t.bytes());
  backend.download(host.data(), t.data, host.size());
  append(host.data(), host.size());
}
}  // namespace

Policy::Policy(std::unique_ptr<State> state) : state_(std::move(state)) {}
Policy::~Policy() = default;

std::unique_ptr<Policy> Policy::load(const std::string& dir, const PolicyOptions& options) {
  ModelFolder folder = ModelFolder::read(dir);
  const ModelConfig config = ModelConfig::parse(folder.config);
  const SafetensorsReader reader = SafetensorsReader::open_folder(dir);
  auto s = std::make_unique<State>(options, open_backend(options.device, options.backend), std::move(folder),
                                   config, find_prefix(reader));
  std::set<std::string> known;
  for (const Parameter& p : s->table.all) known.insert(p.name);
  for (const auto& [name, entry] : reader.entries()) {
    const bool harmless =
        name.find("rotary_emb") != std::string::npos || (config.tied_embeddings && name == "lm_head.weight");
    if (!known.count(name) && !harmless)
      throw Failure("ERR_UNEXPECTED_TENSOR", "tensor " + name + " has no place in a " + config.model_type +
                                                 " model with this config.json");
  }
  s->weights.allocate();
  read_block(reader, "", s->table, s->weights, *s->backend);
  if (options.weights == DType::bf16 && options.trainable) {
    s->rollout_packed = std::make_unique<PackedWeights>(*s->backend, s->table, DType::bf16);
    s->rollout_decoder =
        std::make_unique<Decoder>(*s->backend, s->config, s->table, s->weights, *s->rollout_packed);
  }
  const Decoder& decoder = s->rollout_decoder ? *s->rollout_decoder : s->decoder;
  s->generator = std::make_unique<Generator>(*s->backend, decoder, options.prefill_chunk);
  return std::unique_ptr<Policy>(new Policy(std::move(s)));
}

const ModelConfig& Policy::config() const {
  return state_->config;
}
const PolicyOptions& Policy::options() const {
  return state_->options;
}
std::string Policy::device_description() const {
  return state_->backend->description();
}
int64_t Policy::flop() const {
  return state_->backend->flop();
}
int64_t Policy::optimizer_steps() const {
  return state_->steps;
}

int64_t Policy::resident_bytes() const {
  return state_->resident_bytes();
}

std::vector<ParameterInfo> Policy::parameters() const {
  std::vector<ParameterInfo> out;
  for (const Parameter& p : state_->table.all) out.push_back({p.name, p.shape});
  return out;
}

int Policy::index_of(const std::string& name) const {
  const int i = state_->table.find(name);
  if (i < 0)
    throw Failure("ERR_UNKNOWN_PARAMETER",
                  "no parameter " + name + " in this " + config().model_type + " model");
  return i;
}

void Policy::read_parameter(const std::string& name, float* out) const {
  const Tensor t = state_->weights.tensor(index_of(name));
  state_->backend->download(out, t.data, t.bytes());
}

void Policy::read_gradient(const std::string& name, float* out) const {
  const int i = index_of(name);
  state_->require_trainable("gradient");
  state_->gradients.allocate();
  const Tensor t = state_->gradients.tensor(i);
  state_->backend->download(out, t.data, t.bytes());
}

void Policy::write_parameter(const std::string& name, const float* values) {
  const Tensor t = state_->weights.tensor(index_of(name));
  state_->backend->upload(t.data, values, t.bytes());
  state_->weights_changed();
}

void Policy::save(const std::string& dir) const {
  const State& s = *state_;
  make_directory(dir);
  std::vector<TensorToWrite> tensors;
  for (const Parameter& p : s.table.all) tensors.push_back({p.name, p.shape});
  write_safetensors(
      dir + "/model.safetensors", tensors, {{"format", "pt"}},
      [&](size_t i, const AppendBytes& append) { append_block(s.weights, *s.backend, i, append); });
  s.folder.write(dir);
}

void Policy::save_optimizer(const std::string& file) const {
  State& s = *state_;
  s.require_trainable("saveOptimizer");
  s.first_moment.allocate();
  s.second_moment.allocate();
  std::vector<TensorToWrite> tensors;
  for (const char* prefix : {"first_moment.", "second_moment."})
    for (const Parameter& p : s.table.all) tensors.push_back({prefix + p.name, p.shape});
  const size_t n = s.table.all.size();
  write_safetensors(file, tensors, {{"step", std::to_string(s.steps)}},
                    [&](size_t i, const AppendBytes& append) {
                      append_block(i < n ? s.first_moment : s.second_moment, *s.backend, i % n, append);
                    });
}

void Policy::load_optimizer(const std::string& file) {
  State& s = *state_;
  s.require_trainable("loadOptimizer");
  const SafetensorsReader reader = SafetensorsReader::open(file);
  const auto step = reader.metadata().find("step");
  if (step == reader.metadata().end() || step->second.empty() || step->second.size() > 15 ||
      step->second.find_first_not_of("0123456789") != std::string::npos)
    throw Failure("ERR_SAFETENSORS", file + ": expected optimizer state with a step count in its metadata");
  // Nothing of this policy changes unless the whole file is right.
  for (const char* prefix : {"first_moment.", "second_moment."})
    for (const Parameter& p : s.table.all) {
      const SafetensorsReader::Entry* e = reader.find(prefix + p.name);
      if (!e) throw Failure("ERR_MISSING_TENSOR", file + ": no tensor " + prefix + p.name);
      if (e->shape != p.shape || e->dtype != "F32")
        throw Failure("ERR_SHAPE", file + ": tensor " + prefix + p.name + ": expected F32 " +
                                       shape_text(p.shape) + ", got " + e->dtype + " " +
                                       shape_text(e->shape));
    }
  s.first_moment.allocate();
  s.second_moment.allocate();
  read_block(reader, "first_moment.", s.table, s.first_moment, *s.backend);
  read_block(reader, "second_moment.", s.table, s.second_moment, *s.backend);
  s.steps = std::stoll(step->second);
}

Generator& Policy::generator() {
  State& s = *state_;
  (s.rollout_packed ? *s.rollout_packed : s.packed).pack(s.weights);
  return *s.generator;
}

}  // namespace skillgate
