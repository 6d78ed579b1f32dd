// Sessions and generate.
#include <algorithm>
#include <utility>

#include "binding/convert.h"
#include "binding/policy_arguments.h"
#include "binding/policy_wrap.h"

namespace skillgate {

namespace {

int64_t session_handle(const char* what, const Napi::Value& value) {
  if (!value.IsNumber()) {
    throw Failure("ERR_INVALID_ARGUMENT",
                  std::string(what) + ": expected session to be a number, got " + describe(value));
  }
  const double handle = value.As<Napi::Number>().DoubleValue();
  return handle >= 1 && handle <= 9007199254740991.0 ? static_cast<int64_t>(handle) : -1;
}

Napi::Object to_object(Napi::Env env, const GenerateResult& result) {
  const OutArray<int32_t> tokens(env, result.tokens.size());
  const OutArray<float> logprobs(env, result.logprobs.size());
  std::copy(result.tokens.begin(), result.tokens.end(), tokens.data());
  std::copy(result.logprobs.begin(), result.logprobs.end(), logprobs.data());
  static constexpr const char* kReasons[] = {"stop", "length", "aborted"};
  Napi::Object object = Napi::Object::New(env);
  object.Set("tokens", tokens.value());
  object.Set("logprobs", logprobs.value());
  object.Set("finishReason", kReasons[static_cast<size_t>(result.reason)]);
  return object;
}

}  // namespace

uint64_t& PolicyWrap::open_handle(const char* what, int64_t handle) {
  const auto found = sessions_.find(handle);
  if (found != sessions_.end()) return found->second;
  throw Failure("ERR_UNKNOWN_SESSION", std::string(what) +
                                           ": expected an open session of this policy, got one that "
                                           "was closed or belongs to another");
}

Napi::Value PolicyWrap::add_session(Napi::Env env, std::function<void(Generation&, int64_t)> add) {
  const auto handle = static_cast<int64_t>(environment_->next_id());
  submit_brief([add = std::move(add), handle](PolicyHost& host) { add(host.generation(), handle); });
  sessions_[handle] = 0;
  return Napi::Number::New(env, static_cast<double>(handle));
}

Napi::Value PolicyWrap::open_session(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("openSession()");
    return add_session(info.Env(), [](Generation& generation, int64_t handle) { generation.open(handle); });
  });
}

Napi::Value PolicyWrap::fork_session(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("forkSession()");
    const int64_t from = session_handle("forkSession()", info[0]);
    if (open_handle("forkSession()", from) != 0) {
      throw Failure("ERR_BUSY", "forkSession(): a request of the session is in flight");
    }
    return add_session(info.Env(),
                       [from](Generation& generation, int64_t handle) { generation.fork(handle, from); });
  });
}

void PolicyWrap::close_session(const Napi::CallbackInfo& info) {
  guard(info, [&] {
    const int64_t handle = session_handle("closeSession()", info[0]);
    const auto found = sessions_.find(handle);
    if (disposed_ || found == sessions_.end()) return;
    const uint64_t user = found->second;
    sessions_.erase(found);
    if (user != 0) loaded_.thread->abort(user);
    submit_brief([handle](PolicyHost& host) { host.generation().close(handle); });
  });
}

Napi::Value PolicyWrap::generate(const Napi::CallbackInfo& info) {
  return guard(info, [&] {
    check_open("generate()");
    const Fields fields("generate()", info[0]);
    const auto request =
        std::make_shared<GenerateRequest>(read_generate_request(fields, loaded_.info.vocabulary));
    int64_t session = -1;
    if (fields.has("session")) {
      session = session_handle("generate()", fields.get("session"));
      if (open_handle("generate()", session) != 0) {
        throw Failure("ERR_BUSY",
                      "generate(): a request of the session is in flight; a session takes one at a time");
      }
    }
    const auto out = std::make_shared<GenerateResult>();
    out->reason = FinishReason::aborted;  // what an aborted request that never started comes back with
    const JobPtr started = job("generate()", Job::Kind::generation,
                               [request, session, out](PolicyHost& host, const JobPtr& self) {
                                 host.generation().start(self, session, std::move(*request), out);
                               });
    const Napi::Value result = submit(
        info, started, [out](Napi::Env env) { return to_object(env, *out); },
        [this, session, id = started->id] {
          const auto found = sessions_.find(session);
          if (found != sessions_.end() && found->second == id) found->second = 0;
        });
    if (session >= 0) sessions_[session] = started->id;
    return result;
  });
}

}  // namespace skillgate
