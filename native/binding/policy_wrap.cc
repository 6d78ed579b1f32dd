#include "binding/policy_wrap.h"

#include <cstring>
#include <utility>

#include "binding/checks.h"
#include "binding/convert.h"

namespace skillgate {

namespace {

Napi::Value undefined(Napi::Env env) {
  return env.Undefined();
}

size_t count(const ParameterInfo& parameter) {
  size_t count = 1;
  for (const int64_t size : parameter.shape) count *= static_cast<size_t>(size);
  return count;
}

}  // namespace

Napi::Function PolicyWrap::define(Napi::Env env, PolicyClass* owner) {
  return DefineClass(
      env, "NativePolicy",
      {InstanceMethod<&PolicyWrap::info>("info"), InstanceMethod<&PolicyWrap::version>("version"),
       InstanceMethod<&PolicyWrap::disposed>("disposed"), InstanceMethod<&PolicyWrap::logprobs>("logprobs"),
       InstanceMethod<&PolicyWrap::accumulate>("accumulate"), InstanceMethod<&PolicyWrap::step>("step"),
       InstanceMethod<&PolicyWrap::zero_gradients>("zeroGradients"),
       InstanceMethod<&PolicyWrap::open_session>("openSession"),
       InstanceMethod<&PolicyWrap::fork_session>("forkSession"),
       InstanceMethod<&PolicyWrap::close_session>("closeSession"),
       InstanceMethod<&PolicyWrap::generate>("generate"), InstanceMethod<&PolicyWrap::parameter>("parameter"),
       InstanceMethod<&PolicyWrap::gradient>("gradient"),
       InstanceMethod<&PolicyWrap::set_parameter>("setParameter"), InstanceMethod<&PolicyWrap::save>("save"),
       InstanceMethod<&PolicyWrap::save_optimizer>("saveOptimizer"),
       InstanceMethod<&PolicyWrap::load_optimizer>("loadOptimizer"),
       InstanceMethod<&PolicyWrap::abort>("abort"), InstanceMethod<&PolicyWrap::dispose>("dispose")},
      owner);
}

PolicyWrap::PolicyWrap(const Napi::CallbackInfo& info) : Napi::ObjectWrap<PolicyWrap>(info) {
  auto* const owner = static_cast<PolicyClass*>(info.Data());
  if (owner->adopting_ == nullptr) {
    throw to_error(info.Env(),
                   Failure("ERR_ILLEGAL_CONSTRUCTOR", "a native policy is made by loadPolicy() alone"));
  }
  environment_ = &owner->environment_;
  loaded_ = std::move(*owner->adopting_);
}

PolicyWrap::~PolicyWrap() {
  if (loaded_.thread) loaded_.thread->close();
}

void PolicyWrap::check_open(const char* what) const {
  if (disposed_) throw Failure("ERR_DISPOSED", std::string(what) + ": the policy was disposed");
}

void PolicyWrap::check_trainable(const char* what) const {
  if (loaded_.info.trainable) return;
  throw Failure("ERR_NOT_TRAINABLE", std::string(what) + ": the policy was loaded with trainable: false");
}

const ParameterInfo& PolicyWrap::find_parameter(const char* what, const std::string& name) const {
  for (const ParameterInfo& parameter : loaded_.info.parameters) {
    if (parameter.name == name) return parameter;
  }
  throw Failure("ERR_UNKNOWN_PARAMETER", std::string(what) + ": expected one of the model's " +
                                             std::to_string(loaded_.info.parameters.size()) +
                                             " tensor names, got \"" + name.substr(0, 200) + '"');
}

JobPtr PolicyWrap::job(const char* what, Job::Kind kind,
                       std::function<void(PolicyHost&, const JobPtr&)> run) {
  auto job = std::make_shared<Job>();
  job->id = environment_->next_id();
  job->what = what;
  job->kind = kind;
  job->run = [host = loaded_.host, run = std::move(run)](const JobPtr& self) { run(*host, self); };
  return job;
}

Napi::Value PolicyWrap::submit(const Napi::CallbackInfo& info, const JobPtr& job, Result result,
                               std::function<void()> settled) {
  Pending pending;
  pending.result = std::move(result);
  if (settled) pending.settled = [settled = std::move(settled)](const Failure*) { settled(); };
  pending.owner = std::make_shared<Napi::ObjectReference>(Napi::Persistent(info.This().As<Napi::Object>()));
  Napi::Object started = Napi::Object::New(info.Env());
  started.Set("id", static_cast<double>(job->id));
  started.Set("promise", environment_->submit(*loaded_.thread, job, std::move(pending)));
  return started;
}

void PolicyWrap::submit_brief(std::function<void(PolicyHost&)> run) {
  const JobPtr brief =
      job("", Job::Kind::brief, [run = std::move(run)](PolicyHost& host, const JobPtr&) { run(host); });
  brief->id = 0;
  loaded_.thread->submit(brief);
}

Napi::Value PolicyWrap::info(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const PolicyInfo& loaded = loaded_.info;
  Napi::Array parameters = Napi::Array::New(env, loaded.parameters.size());
  for (uint32_t i = 0; i < parameters.Length(); i++) {
    const ParameterInfo& parameter = loaded.parameters[i];
    Napi::Array shape = Napi::Array::New(env, parameter.shape.size());
    for (uint32_t d = 0; d < shape.Length(); d++) shape.Set(d, static_cast<double>(parameter.shape[d]));
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("name", parameter.name);
    entry.Set("shape", shape);
    parameters.Set(i, entry);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("device", loaded.device);
  result.Set("description", loaded.description);
  result.Set("vocabularySize", static_cast<double>(loaded.vocabulary));
  result.Set("maxContext", static_cast<double>(loaded.max_context));
  result.Set("trainable", loaded.trainable);
  result.Set("parameters", parameters);
  return result;
}

Napi::Value PolicyWrap::version(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(loaded_.info.steps));
}

Napi::Value PolicyWrap::disposed(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), disposed_);
}

Napi::Value PolicyWrap::read(const Napi::CallbackInfo& info, const char* what, bool gradient) {
  const std::string name = text_argument(what, "name", info[0]);
  const ParameterInfo& parameter = find_parameter(what, name);
  const auto out = std::make_shared<OutArray<float>>(info.Env(), count(parameter));
  return submit(info,
                job(what, Job::Kind::normal,
                    [name, gradient, data = out->data()](PolicyHost& host, const JobPtr&) {
                      if (gradient) {
                        host.policy().read_gradient(name, data);
                      } else {
                        host.policy().read_parameter(name, data);
                      }
                    }),
                [out](Napi::Env) { return out->value(); });
}

Napi::Value PolicyWrap::parameter(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("parameter()");
    return read(info, "parameter()", false);
  });
}

Napi::Value PolicyWrap::gradient(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("gradient()");
    check_trainable("gradient()");
    return read(info, "gradient()", true);
  });
}

Napi::Value PolicyWrap::set_parameter(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("setParameter()");
    const Fields fields("setParameter()", info[0]);
    const std::string name = fields.text("name");
    const auto values = std::make_shared<std::vector<float>>(
        fields.array<float>("values", static_cast<int64_t>(count(find_parameter("setParameter()", name)))));
    check_finite(fields.where(), "values", *values);
    return submit(
        info,
        job("setParameter()", Job::Kind::exclusive,
            [name, values](PolicyHost& host, const JobPtr&) { host.write_parameter(name, values->data()); }),
        undefined);
  });
}

Napi::Value PolicyWrap::save(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("save()");
    const std::string dir = text_argument("save()", "dir", info[0]);
    return submit(
        info,
        job("save()", Job::Kind::normal, [dir](PolicyHost& host, const JobPtr&) { host.policy().save(dir); }),
        undefined);
  });
}

Napi::Value PolicyWrap::save_optimizer(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("saveOptimizer()");
    check_trainable("saveOptimizer()");
    const std::string file = text_argument("saveOptimizer()", "file", info[0]);
    return submit(info,
                  job("saveOptimizer()", Job::Kind::normal,
                      [file](PolicyHost& host, const JobPtr&) { host.policy().save_optimizer(file); }),
                  undefined);
  });
}

Napi::Value PolicyWrap::load_optimizer(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("loadOptimizer()");
    check_trainable("loadOptimizer()");
    const std::string file = text_argument("loadOptimizer()", "file", info[0]);
    const auto steps = std::make_shared<int64_t>(0);
    return submit(info,
                  job("loadOptimizer()", Job::Kind::exclusive,
                      [file, steps](PolicyHost& host, const JobPtr&) {
                        host.policy().load_optimizer(file);
                        *steps = host.policy().optimizer_steps();
                      }),
                  [this, steps](Napi::Env env) {
                    loaded_.info.steps = *steps;
                    return env.Undefined();
                  });
  });
}

void PolicyWrap::abort(const Napi::CallbackInfo& info) {
  guard(info, [&] {
    if (!info[0].IsNumber()) {
      throw Failure("ERR_INVALID_ARGUMENT", "abort(): expected the id of a job, got " + describe(info[0]));
    }
    const double id = info[0].As<Napi::Number>().DoubleValue();
    if (id >= 1 && id <= 9007199254740991.0) loaded_.thread->abort(static_cast<uint64_t>(id));
  });
}

void PolicyWrap::dispose(const Napi::CallbackInfo&) {
  disposed_ = true;
  loaded_.thread->close();
}

}  // namespace skillgate
