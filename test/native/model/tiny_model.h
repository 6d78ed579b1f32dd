// Small random models written as Hugging Face folders, for tests of what needs a whole network.
#pragma once
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "io/file.h"
#include "io/safetensors.h"
#include "model/params.h"

struct TinyModel {
  std::string model_type = "qwen3";
  bool tied = true;
  bool bf16_values = false;  // weights that bf16 holds exactly
  int D = 48, L = 3, H = 4, G = 2, E = 16, F = 80, V = 113;

  std::string config() const {
    auto field = [](const char* name, int value) {
      return "\"" + std::string(name) + "\":" + std::to_string(value) + ",";
    };
    return "{\"model_type\":\"" + model_type + "\"," + field("hidden_size", D) +
           field("num_hidden_layers", L) + field("num_attention_heads", H) + field("num_key_value_heads", G) +
           field("head_dim", E) + field("intermediate_size", F) + field("vocab_size", V) +
           field("max_position_embeddings", 512) + "\"tie_word_embeddings\":" + (tied ? "true" : "false") +
           ",\"rope_theta\":10000.0,\"rms_norm_eps\":1e-6}";
  }

  void write(const std::string& dir, uint32_t seed = 1) const {
    using namespace skillgate;
    make_directory(dir);
    write_file(dir + "/config.json", config());
    const auto backend = open_backend("cpu", {});
    const ModelConfig c = ModelConfig::parse(Json::parse(config()));
    const ParameterTable table(c, "model.");
    std::vector<TensorToWrite> tensors;
    for (const Parameter& p : table.all) tensors.push_back({p.name, p.shape});
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    write_safetensors(dir + "/model.safetensors", tensors, {}, [&](size_t i, const AppendBytes& append) {
      const Parameter& p = table.all[i];
      const bool norm = p.shape.size() == 1 && p.name.find("norm") != std::string::npos;
      std::vector<float> values(static_cast<size_t>(p.count()));
      for (float& v : values) v = norm ? 1 + 0.1f * normal(random) : 0.15f * normal(random);
      if (bf16_values)
        for (float& v : values) v = std::nearbyint(v * 256) / 256;
      append(values.data(), values.size() * 4);
    });
  }
};
