#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ast.h"
#include "lexer.h"

namespace plumbline::templates::jinja {

/// Recursive descent over the tokens of one template, with bounded depth.
/// After the first error every token is the end, so each loop here ends by itself.
/// Source: jinja2/parser.py: precedences, and what is allowed where.
class Parser {
 public:
  Parser(Program& program, SyntaxError& error);

  /// Fills in the program's body and symbols, or sets the error.
  void parse();

 private:
  // Statements: parser.cc
  Body body(std::initializer_list<std::string_view> end_tags);
  Body closed_body(std::string_view end_tag);
  Statement* statement(std::initializer_list<std::string_view> end_tags);
  Statement* print();
  Statement* if_statement();
  Statement* for_statement();
  Statement* set_statement();
  Statement* macro_statement();
  Statement* call_block();
  Statement* filter_block();
  Statement* with_statement();
  Statement* generation();
  Statement* autoescape();
  Statement* block();
  Statement* loop_control(StatementKind kind);
  void macro_body(MacroNode& macro, std::string_view end_tag);
  std::span<Parameter> parameters();
  Expr* target(bool may_be_attribute);
  Expr* target_item(bool may_be_attribute);

  // Expressions: parser_expressions.cc
  Expr* tuple(bool with_conditional = true, bool parenthesised = false,
              std::string_view end_name = {});
  Expr* expression() { return conditional(); }
  Expr* conditional();
  Expr* logic_or();
  Expr* logic_and();
  Expr* logic_not();
  Expr* comparison();
  Expr* sum();
  Expr* concatenation();
  Expr* product();
  Expr* power();
  Expr* unary(bool with_filter);
  Expr* primary();
  Expr* string_literal();
  Expr* list_literal();
  Expr* dict_literal();
  Expr* postfix(Expr* operand);
  Expr* subscript(Expr* object);
  Expr* subscript_key(Expr* object, std::uint32_t at, bool& is_slice);
  Expr* filters_and_tests(Expr* operand);
  Expr* filter(Expr* operand);
  Expr* test(Expr* operand);
  Expr* call(Expr* callee);
  CallArguments arguments();
  std::string_view dotted_name();

  // Tokens
  bool failed() const { return error_.failed; }
  bool at_end() const { return current_.kind == TokenKind::end; }
  Token take();
  const Token& ahead();
  bool skip(std::string_view operator_text);
  bool skip_name(std::string_view name);
  void expect(std::string_view operator_text);
  Token expect_name();
  void expect(TokenKind kind);
  void fail(std::uint32_t at, std::string message);
  void fail_seen(std::string_view expected);

  // Nodes
  template <typename Node>
  Node* make(std::uint32_t at) {
    Node* node = program_.arena.make<Node>();
    node->at = at;
    return node;
  }
  template <typename Node>
  Node* expr(ExprKind kind, std::uint32_t at) {
    Node* node = make<Node>(at);
    node->kind = kind;
    return node;
  }
  template <typename Node>
  Node* stmt(StatementKind kind, std::uint32_t at) {
    Node* node = make<Node>(at);
    node->kind = kind;
    return node;
  }
  /// Takes `child` into the height of `parent`.
  void hold(Expr& parent, const Expr* child);
  void hold(Expr& parent, const CallArguments& arguments);
  Expr* nothing() { return expr<Literal>(ExprKind::literal, current_.at); }
  Expr* binary(ExprKind kind, Operator op, std::uint32_t at, Expr* left, Expr* right);
  Name* name_node(Symbol symbol, std::string_view text, std::uint32_t at);
  Symbol symbol(std::string_view name);

  /// Counts nesting for as long as it lives.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) {
        parser_.fail(parser_.current_.at,
                     "nested deeper than " + std::to_string(kMaxNesting) + " levels");
      }
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  Program& program_;
  SyntaxError& error_;
  Lexer lexer_;
  Token current_;
  Token ahead_;
  bool has_ahead_ = false;
  int nesting_ = 0;
  int n_open_loops_ = 0;  // loops that break and continue could mean
  std::size_t n_closures_ = 0;  // macros and call blocks seen so far
  MacroNode* macro_ = nullptr;  // the innermost macro being parsed
  std::unordered_map<std::string_view, Symbol> symbols_;
  std::unordered_set<std::string_view> blocks_;
};

}  // namespace plumbline::templates::jinja
