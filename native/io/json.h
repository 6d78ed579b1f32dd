// JSON as far as model folders need it: parse, look up, write back. Numbers keep their text, objects their
// order, so that a config goes out as it came in. Bounded depth; bad text is Failure ERR_JSON with the byte
// offset.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skillgate {

class Json {
 public:
  enum class Kind : uint8_t { null, boolean, number, string, array, object };

  Json() = default;
  static Json parse(std::string_view text);
  static Json of(bool value);
  static Json of(int64_t value);
  static Json of(std::string value);
  static Json array();
  static Json object();

  Kind kind() const { return kind_; }
  bool is(Kind k) const { return kind_ == k; }
  bool boolean() const { return boolean_; }
  double number() const;    // any number
  int64_t integer() const;  // Failure ERR_JSON where it is not an exact 64-bit integer
  const std::string& text() const { return text_; }
  const std::vector<Json>& items() const { return items_; }
  const std::vector<std::pair<std::string, Json>>& members() const { return members_; }

  const Json* find(std::string_view key) const;  // null where absent or not an object
  void set(const std::string& key, Json value);  // replaces or appends
  void push(Json value) { items_.push_back(std::move(value)); }

  std::string dump(int indent = 0) const;

 private:
  friend class JsonParser;
  void write(std::string& out, int indent, int depth) const;

  Kind kind_ = Kind::null;
  bool boolean_ = false;
  std::string text_;  // of a string, or a number as written
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

}  // namespace skillgate
