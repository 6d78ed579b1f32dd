// What a policy holds; shared by policy.cc (loading, files, access) and train_step.cc (forward, loss,
// backward, step).
#pragma once
#include <memory>

#include "io/model_folder.h"
#include "model/activations.h"
#include "model/decoder.h"
#include "model/params.h"
#include "model/token_rows.h"
#include "train/loss_rows.h"
#include "train/policy.h"

namespace skillgate {

struct Policy::State {
  PolicyOptions options;
  std::unique_ptr<Backend> backend;
  ModelFolder folder;
  ModelConfig config;
  ParameterTable table;
  Parameters weights, gradients, first_moment, second_moment;
  PackedWeights packed;
  Decoder decoder;
  // Generation's own, where it reads bf16 weights and training does not; else null.
  std::unique_ptr<PackedWeights> rollout_packed;
  std::unique_ptr<Decoder> rollout_decoder;
  Activations activations;
  TokenRows rows;  // of the last pass
  LossRows loss;
  Arena head;     // the rows that carry loss: hidden states and their gradients
  Arena scalars;  // of a step: the sum of the gradients' squares
  std::unique_ptr<Generator> generator;
  int64_t steps = 0;

  State(const PolicyOptions& o, std::unique_ptr<Backend> b, ModelFolder f, const ModelConfig& c,
        const std::string& prefix)
      : options(o),
        backend(std::move(b)),
        folder(std::move(f)),
        config(c),
        table(config, prefix),
        weights(*backend, table),
        gradients(*backend, table),
        first_moment(*backend, table),
        second_moment(*backend, table),
        packed(*backend, table, options.trainable ? DType::f32 : options.weights),
        decoder(*backend, config, table, weights, packed),
        activations(*backend),
        head(*backend),
        scalars(*backend) {}

  void require_trainable(const char* what) const;
  void weights_changed();  // they are packed again before their next use
  // rows = those of `sequences`; returns the pass over them.
  DecoderRows take_rows(const Sequences& sequences);
  int64_t resident_bytes() const;
  // Of a pass over `rows` rows, `loss_rows` of which carry loss: what it keeps, so that it fits. Takes no
  // memory. Failure ERR_OUT_OF_MEMORY where no mode fits.
  Activations::Mode plan_update(int64_t rows, int64_t loss_rows) const;
  void plan_scores(int64_t rows) const;
};

}  // namespace skillgate
