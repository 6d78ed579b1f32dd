// Forward, fused loss, backward, accumulate; and the optimizer step.
#include <algorithm>
#include <cmath>

#include "backend/status.h"
#include "train/head_rows.h"
#include "train/policy_state.h"

namespace skillgate {

namespace {

void want(DecoderRows& pass, const LossRows& loss) {
  const auto W = static_cast<int64_t>(loss.wanted.size());
  if (W == pass.T) return;
  pass.W = W;
  pass.wanted = loss.wanted.data();
}

}  // namespace

DecoderRows Policy::State::take_rows(const Sequences& s) {
  rows.assign(s.tokens, s.offsets, s.sequence_count, options.share_prefixes);
  if (rows.longest() > config.max_positions)
    throw Failure("ERR_CONTEXT_LENGTH", "expected sequences of at most max_position_embeddings " +
                                            std::to_string(config.max_positions) + " tokens, got one of " +
                                            std::to_string(rows.longest()));
  return {rows.rows(), rows.tokens().data(), rows.positions().data(), rows.spans(), nullptr};
}

void Policy::State::weights_changed() {
  packed.weights_changed();
  if (rollout_packed) rollout_packed->weights_changed();
}

void Policy::State::require_trainable(const char* what) const {
  if (!options.trainable)
    throw Failure("ERR_NOT_TRAINABLE", std::string(what) + ": the policy was loaded with trainable: false");
}

void Policy::logprobs(const Sequences& sequences, float temperature, float* logprob, float* entropy,
                      const std::atomic<bool>* stop, const uint8_t* wanted) {
  State& s = *state_;
  const int64_t D = s.config.D;
  DecoderRows pass = s.take_rows(sequences);
  LossRows& scored = s.loss;
  scored.take_scored(sequences, s.rows, wanted);
  std::fill_n(logprob, sequences.token_count, 0.f);
  if (entropy) std::fill_n(entropy, sequences.token_count, 0.f);
  if (scored.R() == 0) return;
  want(pass, scored);
  s.packed.pack(s.weights);
  s.plan_scores(pass.T);
  s.activations.plan(s.config, pass.T, Activations::Mode::forward);
  s.decoder.forward(pass, s.activations, nullptr, stop);
  for (int64_t at = 0; at < scored.R(); at += kScoreRows) {
    const int64_t R = std::min(kScoreRows, scored.R() - at);
    s.head.reserve(HeadRows::bytes(R, D));
    const HeadRows head(s.head, R, D);
    head.gather(*s.backend, s.decoder, s.activations.output(), scored.row.data() + at);
    s.backend->token_logprob(scored.logprob.data() + at, entropy ? scored.entropy.data() + at : nullptr,
                             head.hidden, s.weights.tensor(s.table.lm_head), s.packed.at(s.table.lm_head),
                             scored.target.data() + at, temperature);
  }
  for (size_t r = 0; r < scored.token.size(); r++) {
    const int32_t t = scored.token[r];
    logprob[t] = scored.logprob[r];
    if (entropy) entropy[t] = scored.entropy[r];
  }
}

void Policy::logits(const Sequences& sequences, float* out, const std::atomic<bool>* stop) {
  State& s = *state_;
  const int64_t D = s.config.D, V = s.config.V, T = sequences.token_count;
  const DecoderRows pass = s.take_rows(sequences);
  std::vector<int32_t> index;
  for (int64_t i = 0; i < sequences.sequence_count; i++)
    for (int32_t t = sequences.offsets[i]; t < sequences.offsets[i + 1]; t++)
      index.push_back(s.rows.row_of(i, t - sequences.offsets[i]));
  s.packed.pack(s.weights);
  s.activations.plan(s.config, pass.T, Activations::Mode::forward);
  s.decoder.forward(pass, s.activations, nullptr, stop);
  s.head.reserve(HeadRows::bytes(T, D) + Arena::need(T * V));
  const HeadRows head(s.head, T, D);
  const Tensor logits = s.head.take(DType::f32, {T, V});
  head.gather(*s.backend, s.decoder, s.activations.output(), index.data());
  s.backend->linear_forward(logits, head.hidden, s.weights.tensor(s.table.lm_head),
                            s.packed.at(s.table.lm_head), {});
  s.backend->download(out, logits.data, logits.bytes());
}

PolicyLossResult Policy::accumulate(const AccumulateArgs& args, const std::atomic<bool>* stop) {
  State& s = *state_;
  s.require_trainable("accumulate");
  const int64_t D = s.config.D, T = args.sequences.token_count;
  DecoderRows pass = s.take_rows(args.sequences);
  LossRows& loss = s.loss;
  loss.take_weighted(args, s.rows);
  const int64_t R = loss.R();
  std::fill_n(args.logprob, T, 0.f);
  if (args.entropy) std::fill_n(args.entropy, T, 0.f);
  std::fill_n(args.clipped, T, uint8_t{0});
  if (R == 0) {
    s.gradients.allocate();
    return {};
  }

  want(pass, loss);
  s.packed.pack(s.weights);
  const Activations::Mode mode = s.plan_update(pass.T, R);
  s.gradients.allocate();
  Activations& a = s.activations;
  a.plan(s.config, pass.T, mode);
  s.decoder.forward(pass, a, nullptr, stop);

  s.head.reserve(HeadRows::update_bytes(R, D));
  const HeadRows head(s.head, R, D);
  const Tensor d_hidden = s.head.take(DType::f32, {R, D}), dx = s.head.take(DType::f32, {R, D});
  head.gather(*s.backend, s.decoder, a.output(), loss.row.data());

  PolicyLossArgs p;
  p.hidden = head.hidden;
  p.lm_head = s.weights.tensor(s.table.lm_head);
  p.lm_head_packed = s.packed.at(s.table.lm_head);
  p.target = loss.target.data();
  p.advantage = loss.advantage.data();
  p.weight = loss.weight.data();
  p.kl_weight = loss.kl_weight.data();
  p.behaviour_logprob = args.behaviour_logprob ? loss.behaviour.data() : nullptr;
  p.reference_logprob = args.reference_logprob ? loss.reference.data() : nullptr;
  p.temperature = args.temperature;
  p.clip_low = args.clip_low;
  p.clip_high = args.clip_high;
  p.dual_clip = args.dual_clip;
  p.kl = args.kl;
  p.kl_coefficient = args.kl_coefficient;
  p.logprob = loss.logprob.data();
  p.entropy = loss.entropy.data();
  p.clipped = loss.clipped.data();
  p.d_hidden = d_hidden;
  p.d_lm_head = s.gradients.tensor(s.table.lm_head);
  s.backend->start_policy_loss(p);

  const int norm = s.table.final_norm;
  s.backend->rmsnorm_backward(dx, s.gradients.tensor(norm), d_hidden, head.x, s.weights.tensor(norm),
                              head.rstd, false);
  s.backend->zero(a.d_output().data, a.d_output().bytes());
  s.backend->scatter_add_rows(a.d_output(), dx, head.index);
  s.decoder.backward(pass, a, s.gradients, stop);

  // The one wait for the device: everything of this call has been queued.
  const PolicyLossResult result = s.backend->finish_policy_loss(p);
  for (int64_t r = 0; r < R; r++) {
    const auto i = static_cast<size_t>(r);
    args.logprob[loss.token[i]] = loss.logprob[i];
    if (args.entropy) args.entropy[loss.token[i]] = loss.entropy[i];
    args.clipped[loss.token[i]] = loss.clipped[i];
  }
  return result;
}

StepResult Policy::step(const StepOptions& o) {
  State& s = *state_;
  s.require_trainable("step");
  s.gradients.allocate();
  s.first_moment.allocate();
  s.second_moment.allocate();
  AdamWOptions adam;
  adam.learning_rate = o.learning_rate;
  adam.beta1 = o.beta1;
  adam.beta2 = o.beta2;
  adam.eps = o.eps;
  adam.weight_decay = o.weight_decay;
  adam.step = s.steps + 1;
  adam.max_grad_norm = o.max_grad_norm;
  s.scalars.reserve(Arena::need(2));
  const Tensor sum = s.scalars.take(DType::f64, {1});
  s.backend->sum_of_squares(sum, s.gradients.whole());
  s.backend->adamw(s.weights.whole(), s.gradients.whole(), s.first_moment.whole(), s.second_moment.whole(),
                   sum, adam);
  s.gradients.clear();

  // The one wait for the device. Where the norm is not finite the weights are as they were.
  double squares = 0;
  s.backend->download(&squares, sum.data, sizeof squares);
  StepResult result;
  result.grad_norm = std::sqrt(squares);
  result.skipped = !std::isfinite(result.grad_norm);
  if (result.skipped) return result;
  s.steps++;
  s.weights_changed();
  return result;
}

void Policy::zero_gradients() {
  if (state_->gradients.allocated()) state_->gradients.clear();
}

}  // namespace skillgate
