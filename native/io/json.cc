#include "io/json.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "backend/status.h"

namespace skillgate {

namespace {
constexpr int kMaxDepth = 64;

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

void write_string(std::string& out, const std::string& s) {
  static const char* hex = "0123456789abcdef";
  out += '"';
  for (char ch : s) {
    const auto c = static_cast<unsigned char>(ch);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += ch;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20) {
      out += "\\u00";
      out += hex[c >> 4];
      out += hex[c & 15];
    } else {
      out += ch;
    }
  }
  out += '"';
}
}  // namespace

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  Json document() {
    Json value = this->value(0);
    space();
    if (at_ != text_.size()) fail("nothing more");
    return value;
  }

 private:
  [[noreturn]] void fail(const char* expected) {
    throw Failure("ERR_JSON", std::string("JSON: expected ") + expected + " at byte " + std::to_string(at_) +
                                  ", " + (at_ < text_.size() ? "got other text" : "got the end"));
  }
  void space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      at_++;
  }
  bool take(char c) {
    if (at_ < text_.size() && text_[at_] == c) return at_++, true;
    return false;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  uint32_t hex4() {
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
      if (at_ >= text_.size()) fail("four hexadecimal digits");
      const char c = text_[at_];
      v <<= 4;
      if (c >= '0' && c <= '9') {
        v |= static_cast<uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        v |= static_cast<uint32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        v |= static_cast<uint32_t>(c - 'A' + 10);
      } else {
        fail("four hexadecimal digits");
      }
      at_++;
    }
    return v;
  }

  std::string string() {
    if (!take('"')) fail("a string");
    std::string out;
    while (true) {
      if (at_ >= text_.size()) fail("the end of the string");
      const char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) fail("no control character in a string");
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ >= text_.size()) fail("an escape");
      switch (text_[at_++]) {
        case '"':
          out += '"';
          break;
        case '\\':
          out += '\\';
          break;
        case '/':
          out += '/';
          break;
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'n':
          out += '\n';
          break;
        case 'r':
          out += '\r';
          break;
        case 't':
          out += '\t';
          break;
        case 'u': {
          uint32_t c1 = hex4();
          if (c1 >= 0xD800 && c1 < 0xDC00 && word("\\u")) {
            const uint32_t c2 = hex4();
            c1 = (c2 >= 0xDC00 && c2 < 0xE000) ? 0x10000 + ((c1 - 0xD800) << 10) + (c2 - 0xDC00) : 0xFFFD;
          } else if (c1 >= 0xD800 && c1 < 0xE000) {
            c1 = 0xFFFD;
          }
          append_utf8(out, c1);
          break;
        }
        default:
          fail("an escape");
      }
    }
  }

  Json number() {
    const size_t begin = at_;
    take('-');
    auto digits = [&] {
      const size_t from = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') at_++;
      if (at_ == from) fail("a value");
    };
    digits();
    if (take('.')) digits();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      digits();
    }
    Json v;
    v.kind_ = Json::Kind::number;
    v.text_ = std::string(text_.substr(begin, at_ - begin));
    return v;
  }

  Json value(int depth) {
    if (depth > kMaxDepth) fail("at most 64 levels");
    space();
    if (at_ >= text_.size()) fail("a value");
    Json v;
    if (text_[at_] == '"') {
      v.kind_ = Json::Kind::string;
      v.text_ = string();
    } else if (take('{')) {
      v.kind_ = Json::Kind::object;
      space();
      if (take('}')) return v;
      do {
        space();
        std::string key = string();
        space();
        if (!take(':')) fail("':'");
        v.members_.emplace_back(std::move(key), value(depth + 1));
        space();
      } while (take(','));
      if (!take('}')) fail("',' or '}'");
    } else if (take('[')) {
      v.kind_ = Json::Kind::array;
      space();
      if (take(']')) return v;
      do {
        v.items_.push_back(value(depth + 1));
        space();
      } while (take(','));
      if (!take(']')) fail("',' or ']'");
    } else if (word("true")) {
      v = Json::of(true);
    } else if (word("false")) {
      v = Json::of(false);
    } else if (word("Infinity") || word("-Infinity") || word("NaN")) {
      fail("a finite number");
    } else if (!word("null")) {
      v = number();
    }
    return v;
  }

  std::string_view text_;
  size_t at_ = 0;
};

Json Json::parse(std::string_view text) {
  return JsonParser(text).document();
}

Json Json::of(bool value) {
  Json v;
  v.kind_ = Kind::boolean;
  v.boolean_ = value;
  return v;
}

Json Json::of(int64_t value) {
  Json v;
  v.kind_ = Kind::number;
  v.text_ = std::to_string(value);
  return v;
}

Json Json::of(std::string value) {
  Json v;
  v.kind_ = Kind::string;
  v.text_ = std::move(value);
  return v;
}

Json Json::array() {
  Json v;
  v.kind_ = Kind::array;
  return v;
}

Json Json::object() {
  Json v;
  v.kind_ = Kind::object;
  return v;
}

double Json::number() const {
  if (kind_ != Kind::number) throw Failure("ERR_JSON", "JSON: expected a number");
  return std::strtod(text_.c_str(), nullptr);
}

int64_t Json::integer() const {
  if (kind_ != Kind::number) throw Failure("ERR_JSON", "JSON: expected an integer");
  errno = 0;
  char* end = nullptr;
  const long long v = std::strtoll(text_.c_str(), &end, 10);
  if (errno != 0) throw Failure("ERR_JSON", "JSON: expected a 64-bit integer, got " + text_);
  if (*end == '\0') return v;
  const double d = number();  // 1e6 or 4096.0
  if (d != std::floor(d) || std::fabs(d) > 9007199254740992.0)
    throw Failure("ERR_JSON", "JSON: expected an integer, got " + text_);
  return static_cast<int64_t>(d);
}

const Json* Json::find(std::string_view key) const {
  if (kind_ != Kind::object) return nullptr;
  const Json* found = nullptr;  // the last one wins, as in JavaScript and Python
  for (const auto& [name, value] : members_)
    if (name == key) found = &value;
  return found;
}

void Json::set(const std::string& key, Json value) {
  for (auto& [name, old] : members_)
    if (name == key) {
      old = std::move(value);
      return;
    }
  members_.emplace_back(key, std::move(value));
}

std::string Json::dump(int indent) const {
  std::string out;
  write(out, indent, 0);
  return out;
}

void Json::write(std::string& out, int indent, int depth) const {
  auto line = [&](int d) {
    if (indent == 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent * d), ' ');
  };
  switch (kind_) {
    case Kind::null:
      out += "null";
      break;
    case Kind::boolean:
      out += boolean_ ? "true" : "false";
      break;
    case Kind::number:
      out += text_;
      break;
    case Kind::string:
      write_string(out, text_);
      break;
    case Kind::array: {
      out += '[';
      bool first = true;
      for (const Json& item : items_) {
        if (!first) out += ',';
        first = false;
        line(depth + 1);
        item.write(out, indent, depth + 1);
      }
      if (!items_.empty()) line(depth);
      out += ']';
      break;
    }
    case Kind::object: {
      out += '{';
      bool first = true;
      for (const auto& [name, value] : members_) {
        if (!first) out += ',';
        first = false;
        line(depth + 1);
        write_string(out, name);
        out += indent ? ": " : ":";
        value.write(out, indent, depth + 1);
      }
      if (!members_.empty()) line(depth);
      out += '}';
      break;
    }
  }
}

}  // namespace skillgate
