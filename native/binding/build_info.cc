#include "binding/build_info.h"

#include <string>

#define SKILLGATE_TEXT_OF(x) #x
#define SKILLGATE_TEXT(x) SKILLGATE_TEXT_OF(x)

namespace skillgate {

Napi::Object build_info(Napi::Env env) {
#if defined(__clang__)
  const std::string compiler = "clang " + std::string(__clang_version__);
#elif defined(__GNUC__)
  const std::string compiler = "gcc " + std::string(__VERSION__);
#else
  const std::string compiler = "unknown";
#endif
#if defined(__x86_64__)
  const char* architecture = "x64";
#elif defined(__aarch64__)
  const char* architecture = "arm64";
#else
  const char* architecture = "other";
#endif
#if defined(__OPTIMIZE__)
  const bool optimized = true;
#else
  const bool optimized = false;
#endif
#if defined(SKILLGATE_WITH_CUDA)
  const bool cuda = true;
#else
  const bool cuda = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
  const char* sanitizer = "address";
#elif defined(__SANITIZE_THREAD__)
  const char* sanitizer = "thread";
#else
  const char* sanitizer = "none";
#endif
  Napi::Object info = Napi::Object::New(env);
  info.Set("version", SKILLGATE_TEXT(SKILLGATE_VERSION));
  info.Set("compiler", compiler);
  info.Set("architecture", architecture);
  info.Set("optimized", optimized);
  info.Set("cuda", cuda);
  info.Set("sanitizer", sanitizer);
  return info;
}

}  // namespace skillgate
