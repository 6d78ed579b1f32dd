// How this addon was built.
#pragma once
#include <napi.h>

namespace skillgate {

// { version, compiler, architecture, optimized, cuda, sanitizer }
Napi::Object build_info(Napi::Env env);

}  // namespace skillgate
