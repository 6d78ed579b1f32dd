// logprobs, accumulate, step: what training asks of a policy.
#include <utility>

#include "binding/convert.h"
#include "binding/policy_arguments.h"
#include "binding/policy_wrap.h"

namespace skillgate {

Napi::Value PolicyWrap::logprobs(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("logprobs()");
    const Fields fields("logprobs()", info[0]);
    const auto packed = std::make_shared<const PackedTokens>(
        PackedTokens::read(fields, loaded_.info.vocabulary, loaded_.info.max_context));
    const float temperature = read_temperature(fields);
    struct Outputs {
      OutArray<float> logprob, entropy;
    };
    const Napi::Env env = info.Env();
    const size_t T = packed->tokens.size();
    std::vector<uint8_t> wanted;
    if (fields.has("wanted")) wanted = fields.array<uint8_t>("wanted", static_cast<int64_t>(T));
    const auto out = std::make_shared<Outputs>(Outputs{{env, T}, {env, T}});
    return submit(info,
                  job("logprobs()", Job::Kind::normal,
                      [packed, temperature, wanted = std::move(wanted), logprob = out->logprob.data(),
                       entropy = out->entropy.data()](PolicyHost& host, const JobPtr& self) {
                        host.policy().logprobs(packed->sequences(), temperature, logprob, entropy,
                                               &self->stop, wanted.empty() ? nullptr : wanted.data());
                      }),
                  [out](Napi::Env env) {
                    Napi::Object result = Napi::Object::New(env);
                    result.Set("logprob", out->logprob.value());
                    result.Set("entropy", out->entropy.value());
                    return result;
                  });
  });
}

Napi::Value PolicyWrap::accumulate(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("accumulate()");
    check_trainable("accumulate()");
    const Fields fields("accumulate()", info[0]);
    struct Work {
      PackedTokens packed;
      LossFields loss;
      PolicyLossResult result;
    };
    PackedTokens packed = PackedTokens::read(fields, loaded_.info.vocabulary, loaded_.info.max_context);
    const size_t T = packed.tokens.size();
    LossFields loss = LossFields::read(fields, static_cast<int64_t>(T));
    check_first_tokens(fields, packed, loss);
    const auto work = std::make_shared<Work>(Work{std::move(packed), std::move(loss), {}});
    struct Outputs {
      OutArray<float> logprob, entropy;
      OutArray<uint8_t> clipped;
    };
    const Napi::Env env = info.Env();
    const auto out = std::make_shared<Outputs>(Outputs{{env, T}, {env, T}, {env, T}});
    return submit(info,
                  job("accumulate()", Job::Kind::normal,
                      [work, logprob = out->logprob.data(), entropy = out->entropy.data(),
                       clipped = out->clipped.data()](PolicyHost& host, const JobPtr& self) {
                        AccumulateArgs args;
                        args.sequences = work->packed.sequences();
                        work->loss.give(args);
                        args.logprob = logprob;
                        args.entropy = entropy;
                        args.clipped = clipped;
                        work->result = host.accumulate(args, &self->stop);
                      }),
                  [work, out](Napi::Env env) {
                    Napi::Object result = Napi::Object::New(env);
                    result.Set("loss", work->result.loss);
                    result.Set("klLoss", work->result.kl_loss);
                    result.Set("logprob", out->logprob.value());
                    result.Set("entropy", out->entropy.value());
                    result.Set("clipped", out->clipped.value());
                    return result;
                  });
  });
}

Napi::Value PolicyWrap::step(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("step()");
    check_trainable("step()");
    const StepOptions options = read_step_options(Fields("step()", info[0]));
    struct Work {
      StepResult result;
      int64_t steps = 0;
    };
    const auto work = std::make_shared<Work>();
    return submit(info,
                  job("step()", Job::Kind::exclusive,
                      [options, work](PolicyHost& host, const JobPtr&) {
                        work->result = host.step(options);
                        work->steps = host.policy().optimizer_steps();
                      }),
                  [this, work](Napi::Env env) {
                    loaded_.info.steps = work->steps;
                    Napi::Object result = Napi::Object::New(env);
                    result.Set("gradNorm", work->result.grad_norm);
                    result.Set("skipped", work->result.skipped);
                    return result;
                  });
  });
}

Napi::Value PolicyWrap::zero_gradients(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("zeroGradients()");
    check_trainable("zeroGradients()");
    return submit(info,
                  job("zeroGradients()", Job::Kind::normal,
                      [](PolicyHost& host, const JobPtr&) { host.zero_gradients(); }),
                  [](Napi::Env env) { return env.Undefined(); });
  });
}

}  // namespace skillgate
