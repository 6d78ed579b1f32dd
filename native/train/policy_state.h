// What a policy holds; shared by policy.cc (loading, files, access) and train_step.cc (forward, loss,
// backward, step).
#pragma once
#include <memory>

#include "io/model_folder.h"
#include "model/activations.h"
#include "model/decoder.h"
#include "model/params.h"
#include "train/policy.h"

namespace skillgate {

struct Policy::State {
  PolicyOptions options;
  std::unique_ptr<Backend> backend;
  ModelFolder folder;
  ModelConfig config;
  ParameterTable table;
  Parameters weights, gradients, first_moment, second_moment;
  Decoder decoder;
  Activations activations;
  Arena head;  // the rows that carry loss: hidden states and their gradients
  std::unique_ptr<Generator> generator;
  int64_t steps = 0;
  bool packed_is_current = false;

  State(const PolicyOptions& o, std::unique_ptr<Backend> b, ModelFolder f, const ModelConfig& c,
        const std::string& prefix)
      : options(o),
        backend(std::move(b)),
        folder(std::move(f)),
        config(c),
        table(config, *backend, prefix),
        weights(*backend, table),
        gradients(*backend, table),
        first_moment(*backend, table),
        second_moment(*backend, table),
        decoder(*backend, config, table, weights),
        activations(*backend),
        head(*backend) {}

  void require_trainable(const char* what) const;
  void prepare_weights();  // repacks after a change
};

}  // namespace skillgate
