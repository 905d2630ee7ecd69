#include "parser.h"

#include <algorithm>

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "end of template";
    case TokenKind::data:
      return "text";
    case TokenKind::block_begin:
      return "'{%'";
    case TokenKind::block_end:
      return "'%}'";
    case TokenKind::variable_begin:
      return "'{{'";
    case TokenKind::variable_end:
      return "'}}'";
    default: {
      constexpr std::size_t kLongest = 40;
      const bool cut = token.text.size() > kLongest;
      std::string_view shown = token.text.substr(0, kLongest);
      while (cut && !shown.empty() && text::first_invalid_utf8(shown) != std::string_view::npos) {
        shown.remove_suffix(1);
      }
      return "'" + std::string(shown) + (cut ? "...'" : "'");
    }
  }
}

std::string one_of(std::initializer_list<std::string_view> names) {
  std::string out;
  std::size_t i = 0;
  for (const std::string_view name : names) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += "'" + std::string(name) + "'";
    ++i;
  }
  return out;
}

}  // namespace

Parser::Parser(Program& program, SyntaxError& error)
    : program_(program), error_(error), lexer_(program, error), current_(lexer_.next()) {
  for (const std::string_view reserved : {"", "loop", "caller", "varargs", "kwargs"})
    symbol(reserved);
}

void Parser::parse() {
  program_.body = body({});
  if (!failed() && !at_end()) fail_seen("the end of the template");
}

// Tokens ----------------------------------------------------------------------------------------

Token Parser::take() {
  Token taken = current_;
  current_ = has_ahead_ ? ahead_ : lexer_.next();
  has_ahead_ = false;
  return taken;
}

const Token& Parser::ahead() {
  if (!has_ahead_) {
    ahead_ = lexer_.next();
    has_ahead_ = true;
  }
  return ahead_;
}

bool Parser::skip(std::string_view operator_text) {
  if (!current_.is(operator_text)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!current_.is_name(name)) return false;
  take();
  return true;
}

void Parser::expect(std::string_view operator_text) {
  if (!skip(operator_text)) fail_seen("'" + std::string(operator_text) + "'");
}

Token Parser::expect_name() {
  if (current_.kind != TokenKind::name) fail_seen("a name");
  return take();
}

void Parser::expect(TokenKind kind) {
  if (current_.kind != kind) fail_seen(kind == TokenKind::block_end ? "'%}'" : "'}}'");
  take();
}

void Parser::fail(std::uint32_t at, std::string message) {
  error_.set(at, std::move(message));
  current_ = lexer_.next();  // after an error: the end
  has_ahead_ = false;
}

void Parser::fail_seen(std::string_view expected) {
  fail(current_.at, describe(current_) + " seen, " + std::string(expected) + " expected");
}

Symbol Parser::symbol(std::string_view name) {
  const auto [found, is_new] = symbols_.try_emplace(name, static_cast<Symbol>(symbols_.size()));
  if (is_new) program_.symbols.push_back(name);
  return found->second;
}

Name* Parser::name_node(Symbol symbol, std::string_view text, std::uint32_t at) {
  Name* node = expr<Name>(ExprKind::name, at);
  node->symbol = symbol;
  node->text = text;
  return node;
}

// Statements ------------------------------------------------------------------------------------

/// Statements up to a tag that is one of `end_tags`; that tag's name is then the current token.
Body Parser::body(std::initializer_list<std::string_view> end_tags) {
  const Nesting nesting(*this);
  std::vector<Statement*> statements;
  while (!failed() && !at_end()) {
    if (current_.kind == TokenKind::data) {
      auto* data = stmt<DataStatement>(StatementKind::data, current_.at);
      data->data = take().text;
      statements.push_back(data);
    } else if (current_.kind == TokenKind::variable_begin) {
      statements.push_back(print());
    } else {
      take();  // block_begin
      const bool ends =
          std::ranges::any_of(end_tags, [&](auto tag) { return current_.is_name(tag); });
      if (ends) return program_.arena.copy(statements);
      statements.push_back(statement(end_tags));
      expect(TokenKind::block_end);
    }
  }
  if (end_tags.size() > 0) fail_seen(one_of(end_tags));
  return program_.arena.copy(statements);
}

/// The rest of a tag, and a body that ends with the one given tag; its name is taken.
Body Parser::closed_body(std::string_view end_tag) {
  skip(":");  // jinja2 allows a colon at the end of a tag, as in Python
  expect(TokenKind::block_end);
  const Body statements = body({end_tag});
  take();
  return statements;
}

Statement* Parser::statement(std::initializer_list<std::string_view> end_tags) {
  if (current_.is_name("if")) return if_statement();
  if (current_.is_name("for")) return for_statement();
  if (current_.is_name("set")) return set_statement();
  if (current_.is_name("macro")) return macro_statement();
  if (current_.is_name("call")) return call_block();
  if (current_.is_name("filter")) return filter_block();
  if (current_.is_name("with")) return with_statement();
  if (current_.is_name("generation")) return generation();
  if (current_.is_name("autoescape")) return autoescape();
  if (current_.is_name("block")) return block();
  if (current_.is_name("break")) return loop_control(StatementKind::break_);
  if (current_.is_name("continue")) return loop_control(StatementKind::continue_);
  fail_seen("a tag that this engine knows" +
            (end_tags.size() > 0 ? ", or " + one_of(end_tags) + "," : ""));
  return stmt<ScopeStatement>(StatementKind::scope, current_.at);
}

Statement* Parser::print() {
  auto* node = stmt<PrintStatement>(StatementKind::print, take().at);
  node->value = tuple();
  expect(TokenKind::variable_end);
  return node;
}

Statement* Parser::if_statement() {
  auto* node = stmt<IfStatement>(StatementKind::if_, current_.at);
  std::vector<Branch> branches;
  Token tag;
  do {
    take();  // if or elif
    Expr* test = tuple(false);
    skip(":");
    expect(TokenKind::block_end);
    branches.push_back({test, body({"elif", "else", "endif"})});
    tag = current_;
  } while (tag.is_name("elif"));
  take();
  if (tag.is_name("else")) node->otherwise = closed_body("endif");
  node->branches = program_.arena.copy(branches);
  return node;
}

Statement* Parser::for_statement() {
  auto* node = stmt<ForStatement>(StatementKind::for_, take().at);
  node->target = target(false);
  if (!skip_name("in")) fail_seen("'in'");
  node->iterable = tuple(false, false, "recursive");
  if (skip_name("if")) node->test = expression();
  node->recursive = skip_name("recursive");
  skip(":");
  expect(TokenKind::block_end);
  const std::size_t n_before = n_closures_;
  ++n_open_loops_;
  node->body = body({"endfor", "else"});
  --n_open_loops_;
  node->makes_closures = n_closures_ != n_before;
  if (take().is_name("else")) node->otherwise = closed_body("endfor");
  return node;
}

Statement* Parser::set_statement() {
  const std::uint32_t at = take().at;
  Expr* to = target(true);
  if (skip("=")) {
    auto* node = stmt<SetStatement>(StatementKind::set, at);
    node->target = to;
    node->value = tuple();
    return node;
  }
  auto* node = stmt<SetBlock>(StatementKind::set_block, at);
  node->target = to;
  node->filter = name_node(kCaptured, "", at);
  while (current_.is("|")) node->filter = filter(node->filter);
  node->body = closed_body("endset");
  return node;
}

Statement* Parser::filter_block() {
  auto* node = stmt<FilterBlock>(StatementKind::filter_block, take().at);
  node->filter = filter(name_node(kCaptured, "", node->at));
  while (current_.is("|")) node->filter = filter(node->filter);
  node->body = closed_body("endfilter");
  return node;
}

Statement* Parser::macro_statement() {
  auto* node = stmt<MacroStatement>(StatementKind::macro, take().at);
  const Token name = expect_name();
  node->symbol = symbol(name.text);
  node->macro.name = name.text;
  node->macro.parameters = parameters();
  macro_body(node->macro, "endmacro");
  return node;
}

Statement* Parser::call_block() {
  auto* node = stmt<CallBlock>(StatementKind::call_block, take().at);
  node->caller.name = "caller";
  if (current_.is("(")) node->caller.parameters = parameters();
  const std::uint32_t call_at = current_.at;
  Expr* called = expression();
  if (called->kind != ExprKind::call) {
    fail(call_at, "'call' block seen, a call of a macro expected in it");
    return node;
  }
  node->call = static_cast<Call*>(called);
  macro_body(node->caller, "endcall");
  return node;
}

void Parser::macro_body(MacroNode& macro, std::string_view end_tag) {
  ++n_closures_;
  MacroNode* const outer_macro = macro_;
  const int n_outer_loops = n_open_loops_;
  macro_ = &macro;
  n_open_loops_ = 0;
  macro.body = closed_body(end_tag);
  n_open_loops_ = n_outer_loops;
  macro_ = outer_macro;
}

std::span<Parameter> Parser::parameters() {
  std::vector<Parameter> found;
  expect("(");
  while (!failed() && !current_.is(")")) {
    if (!found.empty()) expect(",");
    const Token name = expect_name();
    Parameter parameter{symbol(name.text), name.text, nullptr};
    if (skip("=")) {
      parameter.otherwise = expression();
    } else if (!found.empty() && found.back().otherwise != nullptr) {
      fail(name.at, "parameter '" + std::string(name.text) +
                        "' without a default seen after one with a default");
    }
    found.push_back(parameter);
  }
  expect(")");
  return program_.arena.copy(found);
}

Statement* Parser::with_statement() {
  auto* node = stmt<WithStatement>(StatementKind::with, take().at);
  std::vector<Expr*> targets;
  std::vector<Expr*> values;
  while (!failed() && current_.kind != TokenKind::block_end) {
    if (!targets.empty()) expect(",");
    targets.push_back(target_item(false));
    expect("=");
    values.push_back(expression());
  }
  node->targets = program_.arena.copy(targets);
  node->values = program_.arena.copy(values);
  node->body = closed_body("endwith");
  return node;
}

/// {% generation %}: marks what the assistant said. It prints its body, in a scope of its own.
Statement* Parser::generation() {
  auto* node = stmt<ScopeStatement>(StatementKind::scope, take().at);
  const int n_outer_loops = n_open_loops_;
  n_open_loops_ = 0;  // transformers makes it a call block, which a loop control cannot leave
  node->body = closed_body("endgeneration");
  n_open_loops_ = n_outer_loops;
  return node;
}

/// {% autoescape false %}: what holds here anyhow. Chat templates are never escaped as a whole.
Statement* Parser::autoescape() {
  auto* node = stmt<ScopeStatement>(StatementKind::scope, take().at);
  if (!skip_name("false") && !skip_name("False")) fail_seen("'false'");
  node->body = closed_body("endautoescape");
  return node;
}

Statement* Parser::block() {
  auto* node = stmt<BlockStatement>(StatementKind::block, take().at);
  const Token name = expect_name();
  if (!blocks_.insert(name.text).second)
    fail(name.at, "block '" + std::string(name.text) + "' seen a second time");
  node->scoped = skip_name("scoped");
  const int n_outer_loops = n_open_loops_;
  n_open_loops_ = 0;  // jinja2 makes it a function of its own
  node->body = closed_body("endblock");
  n_open_loops_ = n_outer_loops;
  skip_name(name.text);
  return node;
}

Statement* Parser::loop_control(StatementKind kind) {
  if (n_open_loops_ == 0) fail(current_.at, describe(current_) + " seen outside of a loop");
  return stmt<ScopeStatement>(kind, take().at);
}

// Targets ---------------------------------------------------------------------------------------

/// What for and set assign to: a name, a namespace's attribute, or a tuple of them.
Expr* Parser::target(bool may_be_attribute) {
  const std::uint32_t at = current_.at;
  Expr* first = target_item(may_be_attribute);
  if (!current_.is(",")) return first;
  std::vector<Expr*> items{first};
  while (skip(",")) {
    if (current_.kind != TokenKind::name && !current_.is("(")) break;
    if (current_.is_name("in") && !may_be_attribute) break;
    items.push_back(target_item(may_be_attribute));
  }
  auto* node = expr<ListExpr>(ExprKind::list, at);
  node->is_tuple = true;
  node->items = program_.arena.copy(items);
  for (const Expr* item : items) hold(*node, item);
  return node;
}

Expr* Parser::target_item(bool may_be_attribute) {
  if (skip("(")) {
    const Nesting nesting(*this);
    Expr* inner = failed() ? nothing() : target(may_be_attribute);
    expect(")");
    return inner;
  }
  for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (current_.is_name(constant)) fail_seen("a name to assign to");
  }
  const Token name = expect_name();
  if (may_be_attribute && skip(".")) {
    auto* node = expr<NamespaceTarget>(ExprKind::namespace_target, name.at);
    node->symbol = symbol(name.text);
    node->text = name.text;
    node->attribute = expect_name().text;
    return node;
  }
  return name_node(symbol(name.text), name.text, name.at);
}

}  // namespace plumbline::templates::jinja
