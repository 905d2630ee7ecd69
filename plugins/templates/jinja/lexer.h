#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ast.h"
#include "engine.h"

namespace plumbline::templates::jinja {

enum class TokenKind : std::uint8_t {
  end,
  data,
  block_begin,
  block_end,
  variable_begin,
  variable_end,
  name,
  string,
  integer,
  floating,
  operator_,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::uint32_t at = 0;
  std::string_view text;  // data, name, operator; for literals the source text
  Value value;  // literals

  bool is(std::string_view operator_text) const {
    return kind == TokenKind::operator_ && text == operator_text;
  }
  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

/// The first error of compiling. Sticky: what comes later does not overwrite it.
struct SyntaxError {
  bool failed = false;
  std::uint32_t at = 0;
  std::string message;

  void set(std::uint32_t where, std::string what) {
    if (failed) return;
    failed = true;
    at = where;
    message = std::move(what);
  }
};

/// Splits a template into tokens, one at a time, in linear time.
/// Source: jinja2/lexer.py, with trim_blocks, lstrip_blocks and without keep_trailing_newline.
class Lexer {
 public:
  Lexer(Program& program, SyntaxError& error)
      : source_(program.source), arena_(program.arena), error_(error) {}

  /// After the end or an error: end tokens for ever.
  Token next();

 private:
  enum class Mode : std::uint8_t { data, block, variable };

  Token data();
  std::size_t find_tag(std::size_t from) const;
  bool skip_comment(std::size_t begin_at);
  bool skip_raw(std::size_t begin_at, Token& content);
  std::string_view trim_before(std::string_view data, char sign, bool is_variable) const;
  void leave_tag(std::size_t after);

  Token expression();
  bool try_end(Token& token);
  Token number();
  Token name();
  Token string();
  Token operator_();
  Value unescape(std::string_view literal, std::size_t at);

  Token token(TokenKind kind, std::size_t from, std::size_t to) const {
    return {kind, static_cast<std::uint32_t>(from), source_.substr(from, to - from), {}};
  }
  Token fail(std::size_t at, std::string message);
  bool starts(std::size_t at, std::string_view with) const {
    return source_.substr(at).starts_with(with);
  }

  std::string_view source_;
  Arena& arena_;
  SyntaxError& error_;
  std::size_t at_ = 0;
  Mode mode_ = Mode::data;
  Token pending_;  // found together with the data before it
  bool has_pending_ = false;
  bool at_line_start_ = true;
  std::string open_brackets_;
};

}  // namespace plumbline::templates::jinja
