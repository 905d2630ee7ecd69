#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ast.h"
#include "builtins.h"
#include "runtime.h"

namespace plumbline::templates::jinja {

struct Binding {
  Symbol symbol;
  Value value;
};

/// The variables of one block. Few, so that a search from the newest is the fastest way to find
/// one.
struct Scope {
  Scope* outer = nullptr;
  Binding* bindings = nullptr;
  std::uint32_t n = 0;
  std::uint32_t capacity = 0;
};

/// Walks over a program once. Expressions: evaluator.cc; statements: statements.cc.
class Evaluator {
 public:
  Evaluator(const Program& program, Runtime& rt, const Dict& context);

  void run(Text& out);

 private:
  enum class Flow : std::uint8_t { next, break_loop, continue_loop };

  // Statements
  Flow execute(Body body, Scope* scope, Text& out);
  Flow execute(const Statement& statement, Scope* scope, Text& out);
  Flow run_if(const IfStatement& node, Scope* scope, Text& out);
  Flow run_for(const ForStatement& node, Scope* scope, Text& out);
  void run_loop(const ForStatement& node, const Value& iterable, Scope* scope, std::int64_t depth,
                Text& out, Flow& flow);
  Flow run_set_block(const SetBlock& node, Scope* scope);
  Flow run_filter_block(const FilterBlock& node, Scope* scope, Text& out);
  Flow run_with(const WithStatement& node, Scope* scope, Text& out);
  void run_call_block(const CallBlock& node, Scope* scope, Text& out);
  void print(const Value& value, Text& out);
  void assign(const Expr& target, const Value& value, Scope* scope);
  Value filter_captured(const Expr& filter, const Text& text, Scope* scope);
  std::vector<Value> filtered(const ForStatement& node, std::span<const Value> items, Scope* scope);

  // Expressions
  Value evaluate(const Expr& expr, Scope* scope);
  Value evaluate_node(const Expr& expr, Scope* scope);
  Value lookup(const Name& name, Scope* scope);
  Value make_list(const ListExpr& node, Scope* scope);
  Value make_dict(const DictExpr& node, Scope* scope);
  Value unary(const Unary& node, Scope* scope);
  Value logic(const Binary& node, Scope* scope);
  Value concat(const Concat& node, Scope* scope);
  Value compare_chain(const Compare& node, Scope* scope);
  bool holds(Operator op, const Value& a, const Value& b);
  Value attribute(const Attribute& node, Scope* scope);
  Value slice(const SliceExpr& node, Scope* scope);
  Value conditional(const Conditional& node, Scope* scope);
  Value filter(const FilterExpr& node, Scope* scope);
  Value test(const TestExpr& node, Scope* scope);
  Value call(const Call& node, Scope* scope, const Value* caller);
  Value call_value(const Value& callee, const Args& args, std::uint32_t at);
  Value call_macro(const Macro& macro, const Args& args);
  bool bind_parameters(const MacroNode& node, const Args& args, Scope* scope);
  Value call_loop(Loop& loop, const Args& args, std::uint32_t at);

  /// The arguments of one call. Their memory is the render's.
  Args arguments(const CallArguments& from, Scope* scope, const Value* caller = nullptr);

  // Scopes
  Scope* inner(Scope* outer) { return rt_.objects().make<Scope>(outer); }
  void bind_name(Scope* scope, Symbol symbol, const Value& value);
  const Value* find_name(const Scope* scope, Symbol symbol) const;

  const Program& program_;
  Runtime& rt_;
  Scope* const top_;  // variables of the template's top level
  std::vector<Value>
      globals_;  // by symbol: the context's value, else the language's function, else absent
};

}  // namespace plumbline::templates::jinja
