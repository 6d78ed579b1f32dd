#include "binding/convert.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace skillgate {

namespace {

constexpr double kMaxSafe = 9007199254740991.0;

const char* type_name(napi_typedarray_type type) {
  static constexpr const char* kNames[] = {
      "Int8Array",   "Uint8Array",   "Uint8ClampedArray", "Int16Array",    "Uint16Array",   "Int32Array",
      "Uint32Array", "Float32Array", "Float64Array",      "BigInt64Array", "BigUint64Array"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "a typed array";
}

struct View {
  napi_typedarray_type type = napi_int8_array;
  size_t length = 0;
  void* data = nullptr;
};

View view_of(const Napi::Value& value) {
  View view;
  napi_value buffer = nullptr;
  size_t offset = 0;
  const napi_status status =
      napi_get_typedarray_info(value.Env(), value, &view.type, &view.length, &view.data, &buffer, &offset);
  if (status != napi_ok) throw Napi::Error::New(value.Env());
  return view;
}

std::string quoted(const Napi::Value& value) {
  char text[48];
  size_t written = 0, length = 0;
  napi_get_value_string_utf8(value.Env(), value, text, sizeof text, &written);
  napi_get_value_string_utf8(value.Env(), value, nullptr, 0, &length);
  return '"' + std::string(text, written) + (length > written ? "..." : "") + '"';
}

}  // namespace

template <>
struct ArrayType<float> {
  static constexpr napi_typedarray_type type = napi_float32_array;
};
template <>
struct ArrayType<int32_t> {
  static constexpr napi_typedarray_type type = napi_int32_array;
};
template <>
struct ArrayType<uint8_t> {
  static constexpr napi_typedarray_type type = napi_uint8_array;
};

Napi::Error to_error(Napi::Env env, const Failure& failure) {
  Napi::Error error = Napi::Error::New(env, failure.what());
  error.Set("code", Napi::String::New(env, failure.code()));
  return error;
}

std::string describe(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

std::string describe(float value) {
  if (!std::isfinite(value)) return describe(double{value});
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", static_cast<double>(value));
  return text;
}

std::string describe(const Napi::Value& value) {
  switch (value.Type()) {
    case napi_undefined:
      return "undefined";
    case napi_null:
      return "null";
    case napi_boolean:
      return value.As<Napi::Boolean>().Value() ? "true" : "false";
    case napi_number:
      return describe(value.As<Napi::Number>().DoubleValue());
    case napi_string:
      return quoted(value);
    case napi_symbol:
      return "a symbol";
    case napi_bigint:
      return "a bigint";
    case napi_function:
      return "a function";
    case napi_external:
      return "an external value";
    default:
      break;
  }
  if (value.IsTypedArray()) {
    const View view = view_of(value);
    return std::string(type_name(view.type)) + " of length " + std::to_string(view.length);
  }
  if (value.IsArray()) return "an array of length " + std::to_string(value.As<Napi::Array>().Length());
  if (value.IsArrayBuffer()) return "an ArrayBuffer";
  return "an object";
}

std::string Range::text() const {
  if (std::isinf(low) && std::isinf(high)) return "a finite number";
  if (std::isinf(high)) return "a finite number " + std::string(low_open ? "> " : ">= ") + describe(low);
  return "a number in " + std::string(low_open ? "(" : "[") + describe(low) + ", " + describe(high) +
         (high_open ? ")" : "]");
}

Fields::Fields(std::string where, const Napi::Value& value) : where_(std::move(where)) {
  if (value.Type() != napi_object || value.IsTypedArray() || value.IsArray()) {
    throw Failure("ERR_INVALID_ARGUMENT",
                  where_ + ": expected an object of named fields, got " + describe(value));
  }
  object_ = value.As<Napi::Object>();
}

Failure Fields::wrong(const char* name, const std::string& expected, const Napi::Value& came,
                      const char* code) const {
  return Failure(code, where_ + ": expected " + name + " to be " + expected + ", got " + describe(came));
}

bool Fields::has(const char* name) const {
  const Napi::Value value = get(name);
  return !value.IsUndefined() && !value.IsNull();
}

Fields Fields::object(const char* name) const {
  return Fields(where_ + "." + name, get(name));
}

template <typename T>
std::vector<T> Fields::array(const char* name, int64_t length) const {
  const Napi::Value value = get(name);
  const std::string type = type_name(ArrayType<T>::type);
  const std::string expected = length < 0 ? type : type + " of length " + std::to_string(length);
  if (!value.IsTypedArray()) throw wrong(name, expected, value);
  const View view = view_of(value);
  if (view.type != ArrayType<T>::type) throw wrong(name, expected, value);
  if (length >= 0 && view.length != static_cast<size_t>(length))
    throw wrong(name, expected, value, "ERR_SHAPE");
  std::vector<T> copy(view.length);
  if (view.length > 0) std::memcpy(copy.data(), view.data, view.length * sizeof(T));
  return copy;
}

template std::vector<float> Fields::array<float>(const char*, int64_t) const;
template std::vector<int32_t> Fields::array<int32_t>(const char*, int64_t) const;
template std::vector<uint8_t> Fields::array<uint8_t>(const char*, int64_t) const;

double Fields::number(const char* name, Range range, std::optional<double> fallback) const {
  const Napi::Value value = get(name);
  if ((value.IsUndefined() || value.IsNull()) && fallback) return *fallback;
  if (!value.IsNumber()) throw wrong(name, range.text(), value);
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!std::isfinite(number)) throw wrong(name, range.text(), value, "ERR_NOT_FINITE");
  if (!range.holds(number)) throw wrong(name, range.text(), value, "ERR_OUT_OF_RANGE");
  return number;
}

float Fields::single(const char* name, Range range, std::optional<double> fallback) const {
  if (fallback && !has(name)) return static_cast<float>(*fallback);
  const auto number = static_cast<float>(this->number(name, range));
  if (std::isfinite(number) && range.holds(number)) return number;
  throw wrong(name, range.text() + " as a 32-bit float", get(name), "ERR_OUT_OF_RANGE");
}

int64_t Fields::integer(const char* name, int64_t low, int64_t high, std::optional<int64_t> fallback) const {
  const Napi::Value value = get(name);
  if ((value.IsUndefined() || value.IsNull()) && fallback) return *fallback;
  const std::string expected = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  if (!value.IsNumber()) throw wrong(name, expected, value);
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!std::isfinite(number)) throw wrong(name, expected, value, "ERR_NOT_FINITE");
  if (number != std::floor(number) || number < static_cast<double>(low) ||
      number > static_cast<double>(high) || std::fabs(number) > kMaxSafe) {
    throw wrong(name, expected, value, "ERR_OUT_OF_RANGE");
  }
  return static_cast<int64_t>(number);
}

uint64_t Fields::seed(const char* name) const {
  const Napi::Value value = get(name);
  if (!value.IsBigInt()) return static_cast<uint64_t>(integer(name, 0, static_cast<int64_t>(kMaxSafe), 0));
  bool lossless = false;
  const uint64_t seed = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) throw wrong(name, "a bigint from 0 to 2^64-1", value, "ERR_OUT_OF_RANGE");
  return seed;
}

bool Fields::boolean(const char* name, bool fallback) const {
  const Napi::Value value = get(name);
  if (value.IsUndefined() || value.IsNull()) return fallback;
  if (!value.IsBoolean()) throw wrong(name, "true or false", value);
  return value.As<Napi::Boolean>().Value();
}

std::string Fields::text(const char* name, std::optional<std::string> fallback) const {
  const Napi::Value value = get(name);
  if ((value.IsUndefined() || value.IsNull()) && fallback) return *fallback;
  return text_argument(where_.c_str(), name, value);
}

size_t Fields::choice(const char* name, std::initializer_list<const char*> choices,
                      std::optional<size_t> fallback) const {
  const Napi::Value value = get(name);
  if ((value.IsUndefined() || value.IsNull()) && fallback) return *fallback;
  std::string expected;
  size_t index = 0;
  for (const char* choice : choices) {
    if (value.IsString() && value.As<Napi::String>().Utf8Value() == choice) return index;
    expected += std::string(index++ > 0 ? ", " : "one of ") + '"' + choice + '"';
  }
  throw wrong(name, expected, value, value.IsString() ? "ERR_OUT_OF_RANGE" : "ERR_INVALID_ARGUMENT");
}

std::vector<int32_t> Fields::ids(const char* name, int64_t vocabulary) const {
  const Napi::Value value = get(name);
  std::vector<int32_t> ids;
  if (value.IsUndefined() || value.IsNull()) return ids;
  const std::string expected = "an array of token ids from 0 to " + std::to_string(vocabulary - 1);
  if (value.IsTypedArray()) {
    ids = array<int32_t>(name);
  } else if (value.IsArray()) {
    const Napi::Array list = value.As<Napi::Array>();
    for (uint32_t i = 0; i < list.Length(); i++) {
      const Napi::Value item = list.Get(i);
      if (!item.IsNumber()) throw wrong(name, expected, item);
      const double id = item.As<Napi::Number>().DoubleValue();
      if (!(id >= 0 && id < static_cast<double>(vocabulary)) || id != std::floor(id)) {
        throw wrong(name, expected, item, "ERR_INVALID_TOKEN");
      }
      ids.push_back(static_cast<int32_t>(id));
    }
  } else {
    throw wrong(name, expected, value);
  }
  for (const int32_t id : ids) {
    if (id >= 0 && id < vocabulary) continue;
    throw Failure("ERR_INVALID_TOKEN",
                  where_ + ": expected " + name + " to be " + expected + ", got " + std::to_string(id));
  }
  return ids;
}

std::string text_argument(const char* where, const char* name, const Napi::Value& value) {
  const std::string expected = std::string(where) + ": expected " + name +
                               " to be a non-empty string without NUL, got " + describe(value);
  if (!value.IsString()) throw Failure("ERR_INVALID_ARGUMENT", expected);
  std::string text = value.As<Napi::String>().Utf8Value();
  if (text.empty() || text.find('\0') != std::string::npos) throw Failure("ERR_INVALID_ARGUMENT", expected);
  return text;
}

template <typename T>
OutArray<T>::OutArray(Napi::Env env, size_t length) {
  auto array = Napi::TypedArrayOf<T>::New(env, length, ArrayType<T>::type);
  data_ = array.Data();
  reference_ = Napi::Persistent(array.template As<Napi::Object>());
}

template class OutArray<float>;
template class OutArray<int32_t>;
template class OutArray<uint8_t>;

}  // namespace skillgate
