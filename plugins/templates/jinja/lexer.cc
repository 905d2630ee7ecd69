#include "lexer.h"

#include <charconv>
#include <cstdlib>

#include "text.h"

namespace plumbline::templates::jinja {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_digit_of(char c, int base) {
  if (base <= 10) return c >= '0' && c < '0' + base;
  return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

constexpr std::string_view kOperators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                           "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                           ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};

}  // namespace

Token Lexer::fail(std::size_t at, std::string message) {
  error_.set(static_cast<std::uint32_t>(at), std::move(message));
  has_pending_ = false;
  return token(TokenKind::end, source_.size(), source_.size());
}

Token Lexer::next() {
  if (error_.failed) return token(TokenKind::end, source_.size(), source_.size());
  if (has_pending_) {
    has_pending_ = false;
    return pending_;
  }
  return mode_ == Mode::data ? data() : expression();
}

// Outside of tags -------------------------------------------------------------------------------

std::size_t Lexer::find_tag(std::size_t from) const {
  std::size_t at = source_.find('{', from);
  while (at != std::string_view::npos && at + 1 < source_.size()) {
    const char c = source_[at + 1];
    if (c == '{' || c == '%' || c == '#') return at;
    at = source_.find('{', at + 1);
  }
  return std::string_view::npos;
}

Token Lexer::data() {
  while (at_ < source_.size()) {
    const std::size_t from = at_;
    const std::size_t open = find_tag(from);
    if (open == std::string_view::npos) {
      at_ = source_.size();
      return token(TokenKind::data, from, at_);
    }
    const char kind = source_[open + 1];
    const char sign = open + 2 < source_.size() ? source_[open + 2] : '\0';
    Token before = token(TokenKind::data, from, open);
    before.text = trim_before(before.text, sign, kind == '{');
    Token after;
    if (kind == '#') {
      if (!skip_comment(open)) return fail(open, "comment '{#' seen, its end '#}' expected");
    } else if (kind == '%' && skip_raw(open, after)) {
      if (error_.failed) return next();
    } else {
      mode_ = kind == '{' ? Mode::variable : Mode::block;
      at_ = open + 2 + (sign == '-' || sign == '+' ? 1 : 0);
      after = token(kind == '{' ? TokenKind::variable_begin : TokenKind::block_begin, open, at_);
    }
    const bool has_after = after.kind != TokenKind::end;
    if (before.text.empty()) {
      if (has_after) return after;
      continue;
    }
    pending_ = after;
    has_pending_ = has_after;
    return before;
  }
  return token(TokenKind::end, at_, at_);
}

/// The data before a tag, without what the tag's sign and lstrip_blocks take away.
std::string_view Lexer::trim_before(std::string_view data, char sign, bool is_variable) const {
  if (sign == '-') return text::strip_right(data);
  if (sign == '+' || is_variable) return data;
  const std::size_t newline_at = data.rfind('\n');
  const std::size_t line_at = newline_at == std::string_view::npos ? 0 : newline_at + 1;
  if (line_at == 0 && !at_line_start_) return data;
  const bool blank = text::skip_space(data, line_at) == data.size();
  return blank ? data.substr(0, line_at) : data;
}

void Lexer::leave_tag(std::size_t after) {
  at_ = after;
  mode_ = Mode::data;
  at_line_start_ = after > 0 && source_[after - 1] == '\n';
}

bool Lexer::skip_comment(std::size_t begin_at) {
  std::size_t inside = begin_at + 2;
  if (inside < source_.size() && (source_[inside] == '-' || source_[inside] == '+')) ++inside;
  const std::size_t end = source_.find("#}", inside);
  if (end == std::string_view::npos) return false;
  std::size_t after = end + 2;
  const char sign = end > inside ? source_[end - 1] : '\0';
  if (sign == '-') {
    after = text::skip_space(source_, after);
  } else if (sign != '+' && starts(after, "\n")) {
    ++after;
  }
  leave_tag(after);
  return true;
}

/// If a raw block begins here: its content, and the place after it. An unclosed one is an error.
bool Lexer::skip_raw(std::size_t begin_at, Token& content) {
  const auto after_sign = [&](std::size_t at) {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? at + 1 : at;
  };
  std::size_t at = text::skip_space(source_, after_sign(begin_at + 2));
  if (!starts(at, "raw")) return false;
  at = text::skip_space(source_, at + 3);
  if (starts(at, "-%}")) {
    at = text::skip_space(source_, at + 3);
  } else if (starts(at, "%}")) {
    at += 2;
  } else {
    return false;
  }
  at_line_start_ = source_[at - 1] == '\n';
  for (std::size_t open = source_.find("{%", at); open != std::string_view::npos;
       open = source_.find("{%", open + 2)) {
    std::size_t end = text::skip_space(source_, after_sign(open + 2));
    if (!starts(end, "endraw")) continue;
    end = text::skip_space(source_, end + 6);
    const bool strips = starts(end, "-%}");
    const bool keeps = starts(end, "+%}");
    if (!strips && !keeps && !starts(end, "%}")) continue;
    content = token(TokenKind::data, at, open);
    content.text = trim_before(content.text, source_[open + 2], false);
    end += strips || keeps ? 3 : 2;
    if (strips) end = text::skip_space(source_, end);
    if (!strips && !keeps && starts(end, "\n")) ++end;
    leave_tag(end);
    return true;
  }
  fail(begin_at, "'raw' seen, its end '{% endraw %}' expected");
  return true;
}

// Inside of tags --------------------------------------------------------------------------------

Token Lexer::expression() {
  for (;;) {
    Token end;
    if (open_brackets_.empty() && try_end(end)) return end;
    const std::size_t after_space = text::skip_space(source_, at_);
    if (after_space == at_) break;
    at_ = after_space;
  }
  if (at_ >= source_.size()) {
    const bool block = mode_ == Mode::block;
    return fail(at_, std::string("end of template seen, '") + (block ? "%}" : "}}") + "' expected");
  }
  const char c = source_[at_];
  if (is_digit(c)) return number();
  if (c == '\'' || c == '"') return string();
  if (c == '_' || (c | 0x20) >= 'a' || static_cast<unsigned char>(c) >= 0x80) {
    Token found = name();
    if (!found.text.empty() || error_.failed) return found;
  }
  return operator_();
}

bool Lexer::try_end(Token& end) {
  const bool block = mode_ == Mode::block;
  const std::string_view close = block ? "%}" : "}}";
  std::size_t after = at_;
  if (starts(at_, "-") && starts(at_ + 1, close)) {
    after = text::skip_space(source_, at_ + 3);
  } else if (block && starts(at_, "+%}")) {
    after = at_ + 3;
  } else if (starts(at_, close)) {
    after = at_ + 2;
    if (block && starts(after, "\n")) ++after;
  } else {
    return false;
  }
  end = token(block ? TokenKind::block_end : TokenKind::variable_end, at_, after);
  leave_tag(after);
  return true;
}

Token Lexer::number() {
  const std::size_t from = at_;
  const auto at = [&](std::size_t i) { return i < source_.size() ? source_[i] : '\0'; };
  // Digits that may be grouped by single underscores.
  const auto digits = [&](std::size_t i, int base) {
    while (is_digit_of(at(i), base) || (at(i) == '_' && is_digit_of(at(i + 1), base) && i > from))
      ++i;
    return i;
  };
  int base = 10;
  if (at(from) == '0') {
    const char mark = static_cast<char>(at(from + 1) | 0x20);
    const int wanted = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    const std::size_t first = from + 2 + (at(from + 2) == '_' ? 1 : 0);
    if (wanted != 10 && is_digit_of(at(first), wanted)) base = wanted;
  }
  std::size_t end = base == 10 ? digits(from, 10) : digits(from + 2, base);
  bool is_float = false;
  // "x.0.1" is two subscripts, not a float.
  if (base == 10 && (from == 0 || at(from - 1) != '.')) {
    if (at(end) == '.' && is_digit(at(end + 1))) {
      is_float = true;
      end = digits(end + 1, 10);
    }
    if ((at(end) | 0x20) == 'e') {
      const std::size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
      if (is_digit(at(end + 1 + sign))) {
        is_float = true;
        end = digits(end + 1 + sign, 10);
      }
    }
  }
  if (!is_float && base == 10 &&
      at(from) == '0') {  // an integer does not go on after leading zeros
    end = from;
    while (at(end) == '0' || (at(end) == '_' && at(end + 1) == '0')) ++end;
  }
  at_ = end;
  Token found = token(is_float ? TokenKind::floating : TokenKind::integer, from, end);
  std::string plain;
  for (const char c : found.text.substr(base == 10 ? 0 : 2)) {
    if (c != '_') plain += c;
  }
  if (is_float) {
    found.value = Value::of(std::strtod(plain.c_str(), nullptr));
    return found;
  }
  std::int64_t value = 0;
  const auto parsed = std::from_chars(plain.data(), plain.data() + plain.size(), value, base);
  if (parsed.ec == std::errc{}) {
    found.value = Value::of(value);
  } else if (base == 10) {
    found.value = Value::big_integer(arena_.text(plain));
  } else {
    return fail(from, "integer of more than 64 bits seen");
  }
  return found;
}

Token Lexer::name() {
  const std::size_t from = at_;
  std::size_t end = from;
  while (end < source_.size()) {
    std::size_t after = end;
    const char32_t point = text::next_point(source_, after);
    if (!(end == from ? text::is_identifier_start(point) : text::is_identifier_part(point))) break;
    end = after;
  }
  at_ = end;
  return token(TokenKind::name, from, end);
}

Token Lexer::string() {
  const std::size_t from = at_;
  const char quote = source_[from];
  std::size_t end = from + 1;
  while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size()) return fail(from, "string seen, its closing quote expected");
  at_ = end + 1;
  Token found = token(TokenKind::string, from, at_);
  const std::string_view inside = source_.substr(from + 1, end - from - 1);
  found.value = inside.find('\\') == std::string_view::npos ? Value::string(inside)
                                                            : unescape(inside, from + 1);
  return found;
}

/// Python's unicode-escape: an unknown escape stays as it is.
Value Lexer::unescape(std::string_view literal, std::size_t literal_at) {
  std::string out;
  for (std::size_t at = 0; at < literal.size();) {
    if (literal[at] != '\\') {
      out += literal[at++];
      continue;
    }
    const char kind = literal[at + 1];  // the lexer's scan saw that something follows a backslash
    const std::size_t escape_at = at;
    at += 2;
    constexpr std::string_view kLetters = "\n\\'\"abfnrtv";
    constexpr std::string_view kMeanings[] = {"",   "\\", "'",  "\"", "\a", "\b",
                                              "\f", "\n", "\r", "\t", "\v"};
    if (const std::size_t letter = kLetters.find(kind); letter != std::string_view::npos) {
      out += kMeanings[letter];
      continue;
    }
    const bool octal = kind >= '0' && kind <= '7';
    const std::size_t n_digits = kind == 'x'   ? 2
                                 : kind == 'u' ? 4
                                 : kind == 'U' ? 8
                                 : octal       ? 3
                                               : 0;
    if (kind == 'N') {
      fail(literal_at + escape_at, "escape '\\N{...}' seen, '\\u' with a number expected");
      return Value::string("");
    }
    if (n_digits == 0) {
      out += '\\';
      at = escape_at + 1;
      continue;
    }
    if (octal) at = escape_at + 1;
    std::uint32_t point = 0;
    std::size_t n_read = 0;
    const int base = octal ? 8 : 16;
    while (n_read < n_digits && at < literal.size() && is_digit_of(literal[at], base)) {
      const char digit = literal[at++];
      point = point * static_cast<std::uint32_t>(base) +
              static_cast<std::uint32_t>(is_digit(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10);
      ++n_read;
    }
    const bool valid = point < 0xD800 || (point > 0xDFFF && point <= 0x10FFFF);
    if ((!octal && n_read < n_digits) || !valid) {
      fail(literal_at + escape_at, "escape sequence seen that is no Unicode character");
      return Value::string("");
    }
    text::append_point(out, point);
  }
  return Value::string(arena_.text(out));
}

Token Lexer::operator_() {
  for (const std::string_view op : kOperators) {
    if (!starts(at_, op)) continue;
    const std::size_t from = at_;
    if (op == "(" || op == "[" || op == "{")
      open_brackets_ += op == "(" ? ')' : op == "[" ? ']' : '}';
    if (op == ")" || op == "]" || op == "}") {
      if (open_brackets_.empty())
        return fail(from, "'" + std::string(op) + "' seen, no bracket is open");
      if (open_brackets_.back() != op[0]) {
        return fail(from,
                    "'" + std::string(op) + "' seen, '" + open_brackets_.back() + "' expected");
      }
      open_brackets_.pop_back();
    }
    at_ = from + op.size();
    return token(TokenKind::operator_, from, at_);
  }
  std::size_t after = at_;
  text::next_point(source_, after);
  return fail(at_,
              "unexpected character '" + std::string(source_.substr(at_, after - at_)) + "' seen");
}

}  // namespace plumbline::templates::jinja
