#include "context.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace plumbline::templates::jinja {
namespace {

/// Makes values of JSON text (RFC 8259), in one pass and without recursion. Strings without escapes
/// are views of the text itself, which the caller lends until the render ends: copying them took
/// half of a render's time.
class JsonReader {
 public:
  JsonReader(Runtime& rt, std::string_view json, std::string_view what)
      : rt_(rt), json_(json), what_(what) {}

  Value read() {
    skip_space();
    do {
      if (!value()) return Value();
      skip_space();
    } while (!open_.empty());
    if (at_ != json_.size()) unexpected("the end");
    return rt_.failed() ? Value() : values_.front();
  }

 private:
  /// A list or an object whose end has not come yet.
  struct Open {
    std::size_t first_value;  // in values_; of an object, keys and values take turns
    bool is_object;
  };

  char peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }

  void skip_space() {
    while (at_ < json_.size() &&
           (json_[at_] == ' ' || json_[at_] == '\n' || json_[at_] == '\t' || json_[at_] == '\r'))
      ++at_;
  }

  bool unexpected(std::string_view expected) {
    const std::string_view seen = text::beginning(json_.substr(at_), 20);
    rt_.fail(ErrorKind::context,
             std::string(what_) + ": byte " + std::to_string(at_) + ": " +
                 (at_ == json_.size() ? "the end" : "'" + std::string(seen) + "'") + " seen, " +
                 std::string(expected) + " expected");
    return false;
  }

  /// One value, or the beginning of one that holds others; then what may follow it.
  bool value() {
    switch (peek()) {
      case '{':
      case '[':
        if (!open()) return false;
        if (peek() == (open_.back().is_object ? '}' : ']')) break;
        return !open_.back().is_object || key();
      case '"':
        if (!string()) return false;
        break;
      case 't':
        if (!literal("true", Value::of(true))) return false;
        break;
      case 'f':
        if (!literal("false", Value::of(false))) return false;
        break;
      case 'n':
        if (!literal("null", Value::none())) return false;
        break;
      default:
        if (!number()) return false;
    }
    return next();
  }

  /// After a value: ends of lists and objects, then a comma, and the key of what comes next.
  bool next() {
    for (; !open_.empty();) {
      skip_space();
      const bool is_object = open_.back().is_object;
      if (peek() == (is_object ? '}' : ']')) {
        ++at_;
        if (!close()) return false;
        continue;
      }
      if (peek() != ',') return unexpected(is_object ? "',' or '}'" : "',' or ']'");
      ++at_;
      skip_space();
      return !is_object || key();
    }
    return true;
  }

  bool key() {
    if (peek() != '"') return unexpected("a key");
    if (!string()) return false;
    skip_space();
    if (peek() != ':') return unexpected("':'");
    ++at_;
    skip_space();
    return true;
  }

  bool open() {
    if (open_.size() >= kMaxDataDepth - 1) {
      rt_.fail(ErrorKind::limit, std::string(what_) + ": nested deeper than " +
                                     std::to_string(kMaxDataDepth - 1) + " levels");
      return false;
    }
    open_.push_back({values_.size(), json_[at_++] == '{'});
    skip_space();
    return true;
  }

  bool close() {
    const Open done = open_.back();
    open_.pop_back();
    const auto inside = std::span<const Value>(values_).subspan(done.first_value);
    Value made;
    if (done.is_object) {
      DictBuilder dict(rt_, inside.size() / 2);
      for (std::size_t i = 0; i < inside.size(); i += 2) dict.set(inside[i], inside[i + 1]);
      made = dict.value();
    } else {
      made = rt_.list(inside);
    }
    values_.resize(done.first_value);
    return push(made);
  }

  bool push(const Value& value) {
    if (values_.size() == values_.capacity() && !rt_.fits(2 * values_.size() * sizeof(Value)))
      return false;
    values_.push_back(value);
    return !rt_.failed();
  }

  bool literal(std::string_view word, const Value& value) {
    if (!json_.substr(at_).starts_with(word)) return unexpected("a value");
    at_ += word.size();
    return push(value);
  }

  // Numbers ---------------------------------------------------------------------------------------

  bool digits() {
    const std::size_t from = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > from || unexpected("a digit");
  }

  bool number() {
    const std::size_t from = at_;
    if (peek() == '-') ++at_;
    if ((peek() < '0' || peek() > '9') && at_ == from) return unexpected("a value");
    const std::size_t whole_at = at_;
    if (!digits()) return false;
    if (json_[whole_at] == '0' && at_ > whole_at + 1) {
      at_ = whole_at;
      return unexpected("a number without leading zeros");
    }
    bool is_whole = true;
    if (peek() == '.') {
      is_whole = false;
      ++at_;
      if (!digits()) return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      is_whole = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits()) return false;
    }
    const std::string_view text = json_.substr(from, at_ - from);
    return push(is_whole ? whole(text) : floating(text));
  }

  static Value whole(std::string_view text) {
    std::int64_t i = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), i);
    return parsed.ec == std::errc{} ? Value::of(i) : Value::big_integer(text);
  }

  static Value floating(std::string_view text) {
    double d = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), d);
    if (parsed.ec == std::errc{}) return Value::of(d);
    return Value::of(std::strtod(std::string(text).c_str(),
                                 nullptr));  // too large or too small: infinite or nearly zero
  }

  // Strings ---------------------------------------------------------------------------------------

  /// Bytes of the text from `at` that stand for themselves, and are ASCII.
  std::size_t plain_end(std::size_t at) const {
    constexpr std::uint64_t kOnes = 0x0101010101010101U;
    constexpr std::uint64_t kHighs = 0x8080808080808080U;
    for (; at + 8 <= json_.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, json_.data() + at, 8);
      const auto has_zero = [](std::uint64_t w) { return (w - kOnes) & ~w; };
      const std::uint64_t stops = (has_zero(word ^ kOnes * '"') | has_zero(word ^ kOnes * '\\') |
                                   (word - kOnes * 0x20) | word) &
                                  kHighs;
      if (stops != 0) break;
    }
    while (at < json_.size() && json_[at] != '"' && json_[at] != '\\' &&
           static_cast<unsigned char>(json_[at]) >= 0x20 &&
           static_cast<unsigned char>(json_[at]) < 0x80)
      ++at;
    return at;
  }

  /// Moves past the opening quote, and past bytes that stand for themselves: up to a quote, a
  /// backslash, or an error.
  bool plain_part(bool& is_ascii) {
    for (;;) {
      at_ = plain_end(at_);
      const auto byte = static_cast<unsigned char>(peek());
      if (at_ == json_.size() || byte < 0x20) return unexpected("the rest of a string");
      if (byte < 0x80) return true;
      is_ascii = false;
      const std::size_t from = at_;
      while (at_ < json_.size() && static_cast<unsigned char>(json_[at_]) >= 0x80) ++at_;
      const std::size_t invalid = text::first_invalid_utf8(json_.substr(from, at_ - from));
      if (invalid == std::string_view::npos) continue;
      at_ = from + invalid;
      return unexpected("UTF-8");
    }
  }

  bool string() {
    const std::size_t from = ++at_;
    bool is_ascii = true;
    if (!plain_part(is_ascii)) return false;
    if (peek() == '"') {
      const Value view = Value::string(json_.substr(from, at_ - from), is_ascii);
      ++at_;
      return push(view);
    }
    scratch_.assign(json_.substr(from, at_ - from));
    while (peek() == '\\') {
      if (!escape()) return false;
      const std::size_t part_at = at_;
      if (!plain_part(is_ascii)) return false;
      scratch_ += json_.substr(part_at, at_ - part_at);
    }
    ++at_;
    return push(rt_.template_string(scratch_));
  }

  bool escape() {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = at_ + 1 < json_.size() ? json_[at_ + 1] : '\0';
    const std::size_t found = letter == '\0' ? std::string_view::npos : kLetters.find(letter);
    if (found != std::string_view::npos) {
      scratch_ += kMeanings[found];
      at_ += 2;
      return true;
    }
    char32_t point = 0;
    if (!unit(point)) return unexpected("an escape sequence");
    if (point >= 0xD800 && point < 0xDC00) {
      char32_t low = 0;
      const std::size_t low_at = at_;
      if (!unit(low) || low < 0xDC00 || low > 0xDFFF) {
        at_ = low_at;
        return unexpected("the second half of a surrogate pair");
      }
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    } else if (point >= 0xDC00 && point <= 0xDFFF) {
      at_ -= 6;
      return unexpected("the first half of a surrogate pair");
    }
    text::append_point(scratch_, point);
    return true;
  }

  /// \uXXXX
  bool unit(char32_t& out) {
    const std::string_view escape = json_.substr(at_, 6);
    std::uint32_t parsed_unit = 0;
    if (escape.size() < 6 || !escape.starts_with("\\u")) return false;
    const auto parsed = std::from_chars(escape.data() + 2, escape.data() + 6, parsed_unit, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != escape.data() + 6) return false;
    out = parsed_unit;
    at_ += 6;
    return true;
  }

  Runtime& rt_;
  std::string_view json_;
  std::string_view what_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
  std::vector<Value> values_;
  std::string scratch_;
};

}  // namespace

Value read_json(Runtime& rt, std::string_view json, std::string_view what) {
  if (!rt.fits(json.size()) || !rt.spend_bytes(json.size())) return Value();
  return JsonReader(rt, json, what).read();
}

const Dict* read_context(Runtime& rt, std::string_view json) {
  const Value context = read_json(rt, json, "context");
  if (rt.failed()) return nullptr;
  if (context.kind == Kind::dict) return context.dict;
  rt.fail(ErrorKind::context,
          "context: '" + std::string(type_name(context)) + "' seen, a JSON object expected");
  return nullptr;
}

}  // namespace plumbline::templates::jinja
