#include "evaluator.h"

#include <algorithm>

namespace plumbline::templates::jinja {
namespace {
constexpr std::uint32_t kFreeSearch =
    32;  // a scope with more variables than this costs fuel to search
}

Evaluator::Evaluator(const Program& program, Runtime& rt, const Dict& context)
    : program_(program), rt_(rt), top_(inner(nullptr)) {
  globals_.reserve(program.symbols.size());
  for (const std::string_view name : program.symbols) {
    const Value* given = name.empty() ? nullptr : find(rt, context, name);
    const Function* function = given == nullptr ? find_function(name) : nullptr;
    globals_.push_back(given != nullptr      ? *given
                       : function != nullptr ? Value::of(function)
                                             : Value::absent());
  }
}

// Scopes ----------------------------------------------------------------------------------------

void Evaluator::bind_name(Scope* scope, Symbol symbol, const Value& value) {
  if (scope->n >= kFreeSearch) rt_.spend(scope->n / kFreeSearch);
  for (std::uint32_t i = scope->n; i > 0; --i) {
    if (scope->bindings[i - 1].symbol == symbol) {
      scope->bindings[i - 1].value = value;
      return;
    }
  }
  if (scope->n == scope->capacity) {
    const std::uint32_t capacity = std::max<std::uint32_t>(4, scope->capacity * 2);
    Binding* bindings = rt_.objects().array<Binding>(capacity);
    if (bindings == nullptr) {
      rt_.fits(UINT64_MAX);
      return;
    }
    std::copy(scope->bindings, scope->bindings + scope->n, bindings);
    scope->bindings = bindings;
    scope->capacity = capacity;
  }
  scope->bindings[scope->n++] = {symbol, value};
}

const Value* Evaluator::find_name(const Scope* scope, Symbol symbol) const {
  for (; scope != nullptr; scope = scope->outer) {
    if (scope->n >= kFreeSearch) rt_.spend(scope->n / kFreeSearch);
    for (std::uint32_t i = scope->n; i > 0; --i) {
      if (scope->bindings[i - 1].symbol == symbol) return &scope->bindings[i - 1].value;
    }
  }
  return globals_[symbol].is_absent() ? nullptr : &globals_[symbol];
}

Value Evaluator::lookup(const Name& name, Scope* scope) {
  const Value* found = find_name(scope, name.symbol);
  return found != nullptr ? *found : Value::undefined(Missing::variable, name.text);
}

// Expressions -----------------------------------------------------------------------------------

Value Evaluator::evaluate(const Expr& expr, Scope* scope) {
  if (expr.kind == ExprKind::literal) return static_cast<const Literal&>(expr).value;
  if (!rt_.spend(1)) return Value();
  if (expr.kind == ExprKind::name) return lookup(static_cast<const Name&>(expr), scope);
  Value result;
  rt_.at(expr.at);
  if (rt_.enter()) result = evaluate_node(expr, scope);
  rt_.leave();
  return result;
}

Value Evaluator::evaluate_node(const Expr& expr, Scope* scope) {
  switch (expr.kind) {
    case ExprKind::list:
      return make_list(static_cast<const ListExpr&>(expr), scope);
    case ExprKind::dict:
      return make_dict(static_cast<const DictExpr&>(expr), scope);
    case ExprKind::unary:
      return unary(static_cast<const Unary&>(expr), scope);
    case ExprKind::logic:
      return logic(static_cast<const Binary&>(expr), scope);
    case ExprKind::concat:
      return concat(static_cast<const Concat&>(expr), scope);
    case ExprKind::compare:
      return compare_chain(static_cast<const Compare&>(expr), scope);
    case ExprKind::attribute:
      return attribute(static_cast<const Attribute&>(expr), scope);
    case ExprKind::slice:
      return slice(static_cast<const SliceExpr&>(expr), scope);
    case ExprKind::call:
      return call(static_cast<const Call&>(expr), scope, nullptr);
    case ExprKind::filter:
      return filter(static_cast<const FilterExpr&>(expr), scope);
    case ExprKind::test:
      return test(static_cast<const TestExpr&>(expr), scope);
    case ExprKind::conditional:
      return conditional(static_cast<const Conditional&>(expr), scope);
    case ExprKind::binary: {
      const auto& node = static_cast<const Binary&>(expr);
      const Value left = evaluate(*node.left, scope);
      const Value right = evaluate(*node.right, scope);
      rt_.at(node.at);
      return arithmetic(rt_, node.op, left, right);
    }
    case ExprKind::element: {
      const auto& node = static_cast<const Element&>(expr);
      const Value object = evaluate(*node.object, scope);
      const Value key = evaluate(*node.key, scope);
      rt_.at(node.at);
      return rt_.element(object, key);
    }
    case ExprKind::literal:
    case ExprKind::name:
    case ExprKind::namespace_target:
      break;
  }
  return rt_.fail(ErrorKind::internal, "expression of an unknown kind");
}

Value Evaluator::make_list(const ListExpr& node, Scope* scope) {
  std::vector<Value> items;
  items.reserve(node.items.size());
  for (const Expr* item : node.items) items.push_back(evaluate(*item, scope));
  return rt_.list(items, node.is_tuple ? Flavor::tuple : Flavor::list);
}

Value Evaluator::make_dict(const DictExpr& node, Scope* scope) {
  DictBuilder dict(rt_, node.keys.size());
  for (std::size_t i = 0; i < node.keys.size() && !rt_.failed(); ++i) {
    const Value key = evaluate(*node.keys[i], scope);
    dict.set(key, evaluate(*node.values[i], scope));
  }
  return dict.value();
}

Value Evaluator::unary(const Unary& node, Scope* scope) {
  const Value operand = evaluate(*node.operand, scope);
  rt_.at(node.at);
  if (node.op == Operator::logic_not) return Value::of(!rt_.truth(operand));
  if (operand.kind == Kind::floating)
    return node.op == Operator::minus ? Value::of(-operand.floating) : operand;
  if (!operand.is_integral()) {
    if (operand.is_undefined()) return rt_.fail_undefined(operand);
    return rt_.fail(ErrorKind::type, "sign before '" + std::string(type_name(operand)) +
                                         "' seen, a number expected");
  }
  if (node.op == Operator::plus) return Value::of(operand.as_integer());
  return arithmetic(rt_, Operator::minus, Value::of(std::int64_t{0}), operand);
}

Value Evaluator::logic(const Binary& node, Scope* scope) {
  const Value left = evaluate(*node.left, scope);
  rt_.at(node.at);
  const bool stops = rt_.truth(left) == (node.op == Operator::logic_or);
  return stops ? left : evaluate(*node.right, scope);
}

Value Evaluator::concat(const Concat& node, Scope* scope) {
  Value all = Value::string("", true);
  for (const Expr* part : node.parts) {
    const Value value = evaluate(*part, scope);
    rt_.at(node.at);
    all = rt_.concat(all, rt_.to_text(value).without_markup());
  }
  return all;
}

Value Evaluator::compare_chain(const Compare& node, Scope* scope) {
  Value left = evaluate(*node.first, scope);
  for (const Comparison& comparison : node.rest) {
    const Value right = evaluate(*comparison.right, scope);
    rt_.at(comparison.at);
    if (!holds(comparison.op, left, right)) return Value::of(false);
    left = right;
  }
  return Value::of(true);
}

bool Evaluator::holds(Operator op, const Value& a, const Value& b) {
  switch (op) {
    case Operator::equal:
      return rt_.check_comparable(a, b) && equal(rt_, a, b);
    case Operator::not_equal:
      return rt_.check_comparable(a, b) && !equal(rt_, a, b);
    case Operator::in:
      return rt_.contains(b, a);
    case Operator::not_in:
      return !rt_.contains(b, a);
    case Operator::less:
      return compare(rt_, a, b, "<") == Order::less;
    case Operator::greater:
      return compare(rt_, a, b, ">") == Order::greater;
    case Operator::less_equal: {
      const Order order = compare(rt_, a, b, "<=");
      return order == Order::less || order == Order::equal;
    }
    case Operator::greater_equal: {
      const Order order = compare(rt_, a, b, ">=");
      return order == Order::greater || order == Order::equal;
    }
    default:
      return false;
  }
}

Value Evaluator::attribute(const Attribute& node, Scope* scope) {
  const Value object = evaluate(*node.object, scope);
  rt_.at(node.at);
  return rt_.attribute(object, node.name, method_for(node.methods, object));
}

Value Evaluator::slice(const SliceExpr& node, Scope* scope) {
  const auto bound = [&](const Expr* expr) {
    return expr == nullptr ? Value::none() : evaluate(*expr, scope);
  };
  const Value object = evaluate(*node.object, scope);
  const Value start = bound(node.start);
  const Value stop = bound(node.stop);
  const Value step = bound(node.step);
  rt_.at(node.at);
  return rt_.slice(object, start, stop, step);
}

Value Evaluator::conditional(const Conditional& node, Scope* scope) {
  const Value chosen = evaluate(*node.test, scope);
  rt_.at(node.at);
  if (rt_.truth(chosen)) return evaluate(*node.yes, scope);
  return node.no != nullptr ? evaluate(*node.no, scope) : Value::undefined(Missing::branch, {});
}

Value Evaluator::filter(const FilterExpr& node, Scope* scope) {
  const Value subject = evaluate(*node.operand, scope);
  const Args args = arguments(node.arguments, scope);
  rt_.at(node.at);
  if (rt_.failed()) return Value();
  if (node.filter == nullptr)
    return rt_.fail(ErrorKind::type, "no filter is named '" + std::string(node.name) + "'");
  return node.filter->apply(rt_, subject, args);
}

Value Evaluator::test(const TestExpr& node, Scope* scope) {
  const Value subject = evaluate(*node.operand, scope);
  const Args args = arguments(node.arguments, scope);
  rt_.at(node.at);
  if (rt_.failed()) return Value();
  if (node.test == nullptr)
    return rt_.fail(ErrorKind::type, "no test is named '" + std::string(node.name) + "'");
  return Value::of(node.test->holds(rt_, subject, args));
}

// Calls -----------------------------------------------------------------------------------------

Args Evaluator::arguments(const CallArguments& from, Scope* scope, const Value* caller) {
  if (from.positional.empty() && from.named.empty() && from.star == nullptr &&
      from.star_star == nullptr && caller == nullptr) {
    return {};
  }
  std::span<const Value> more;
  if (from.star != nullptr) more = rt_.items(evaluate(*from.star, scope));
  std::span<const Entry> more_named;
  if (from.star_star != nullptr) {
    const Value dict = evaluate(*from.star_star, scope);
    if (dict.kind != Kind::dict) {
      rt_.fail(ErrorKind::type,
               "'" + std::string(type_name(dict)) + "' after ** seen, a dict expected");
      return {};
    }
    more_named = dict.dict->entries;
  }
  const std::size_t n_positional = from.positional.size() + more.size();
  const std::size_t n_named = from.named.size() + more_named.size() + (caller != nullptr ? 1 : 0);
  Value* const positional = rt_.objects().array<Value>(n_positional);
  NamedValue* const named = rt_.objects().array<NamedValue>(n_named);
  if (positional == nullptr || named == nullptr) {
    rt_.fits(UINT64_MAX);
    return {};
  }
  Value* next = positional;
  for (const Expr* argument : from.positional) *next++ = evaluate(*argument, scope);
  std::copy(more.begin(), more.end(), next);
  NamedValue* next_named = named;
  for (const KeywordArgument& argument : from.named)
    *next_named++ = {argument.name, evaluate(*argument.value, scope)};
  for (const Entry& entry : more_named) {
    if (!entry.key.is_string()) {
      rt_.fail(ErrorKind::type, "keys of a dict after ** must be strings");
      return {};
    }
    *next_named++ = {entry.key.view(), entry.value};
  }
  if (caller != nullptr) *next_named = {"caller", *caller};
  return {{positional, n_positional}, {named, n_named}};
}

Value Evaluator::call(const Call& node, Scope* scope, const Value* caller) {
  const Value callee = evaluate(*node.callee, scope);
  const Args args = arguments(node.arguments, scope, caller);
  rt_.at(node.at);
  return rt_.failed() ? Value() : call_value(callee, args, node.at);
}

Value Evaluator::call_value(const Value& callee, const Args& args, std::uint32_t at) {
  switch (callee.kind) {
    case Kind::macro:
      return call_macro(*callee.macro, args);
    case Kind::function: {
      const MadeFrom frame(rt_, callee, args);
      return callee.function->call(rt_, args);
    }
    case Kind::loop:
      return call_loop(*callee.loop, args, at);
    case Kind::joiner: {
      const Bound none(rt_, "joiner", args, params(), 0);
      if (callee.joiner->is_used) return callee.joiner->separator;
      callee.joiner->is_used = true;
      return Value::string("", true);
    }
    case Kind::method: {
      const BoundMethod& bound = *callee.method;
      const MadeFrom frame(rt_, bound.self, args);
      const Value result = bound.method->call(rt_, bound.self, args);
      return result.is_string() ? result.as_kind_of(bound.self) : result;
    }
    case Kind::undefined:
      return rt_.fail_undefined(callee);
    default:
      return rt_.fail(ErrorKind::type,
                      "call of '" + std::string(type_name(callee)) + "' seen, a function expected");
  }
}

Value Evaluator::call_macro(const Macro& macro, const Args& args) {
  Scope* scope = inner(macro.scope);
  Text out(rt_);
  if (bind_parameters(*macro.node, args, scope)) execute(macro.node->body, scope, out);
  return out.value();
}

/// Python's rules, and jinja2's: without a value or a default a parameter is undefined.
bool Evaluator::bind_parameters(const MacroNode& node, const Args& args, Scope* scope) {
  const std::string who = "macro '" + std::string(node.name) + "'";
  const std::size_t n = node.parameters.size();
  const std::size_t n_given = std::min(args.positional.size(), n);
  for (std::size_t i = 0; i < n_given; ++i) {
    bind_name(scope, node.parameters[i].symbol, args.positional[i]);
  }
  if (args.positional.size() > n && !node.uses_varargs) {
    rt_.fail(ErrorKind::type, who + ": " + std::to_string(args.positional.size()) +
                                  " arguments seen, at most " + std::to_string(n) + " expected");
    return false;
  }
  const std::uint32_t call_at = rt_.at();
  bool caller_given = false;
  std::vector<bool> named(n, false);
  DictBuilder extra(rt_);
  for (const NamedValue& argument : args.named) {
    const auto found = std::ranges::find(node.parameters, argument.name, &Parameter::name);
    const auto i = static_cast<std::size_t>(found - node.parameters.begin());
    if (i < n_given || (i < n && named[i])) {
      rt_.fail(ErrorKind::type,
               who + ": two values for argument '" + std::string(argument.name) + "' seen");
      return false;
    }
    if (i < n) {
      named[i] = true;
      bind_name(scope, found->symbol, argument.value);
    } else if (argument.name == "caller" && node.uses_caller) {
      caller_given = true;
      bind_name(scope, kCaller, argument.value);
    } else if (node.uses_kwargs) {
      extra.set(Value::string(argument.name), argument.value);
    } else {
      rt_.fail(ErrorKind::type,
               who + ": unknown argument '" + std::string(argument.name) + "' seen");
      return false;
    }
  }
  for (std::size_t i = n_given; i < n; ++i) {
    if (named[i]) continue;
    const Parameter& parameter = node.parameters[i];
    bind_name(scope, parameter.symbol,
              parameter.otherwise != nullptr ? evaluate(*parameter.otherwise, scope)
                                             : Value::undefined(Missing::variable, parameter.name));
  }
  if (node.uses_caller && !caller_given &&
      std::ranges::find(node.parameters, "caller", &Parameter::name) == node.parameters.end()) {
    bind_name(scope, kCaller, Value::undefined(Missing::variable, "caller"));
  }
  if (node.uses_varargs)
    bind_name(scope, kVarargs, rt_.list(args.positional.subspan(n_given), Flavor::tuple));
  if (node.uses_kwargs) bind_name(scope, kKwargs, extra.value());
  rt_.at(call_at);
  return !rt_.failed();
}

Value Evaluator::call_loop(Loop& loop, const Args& args, std::uint32_t at) {
  if (!loop.node->recursive) {
    return rt_.fail(ErrorKind::type,
                    "call of 'loop' seen in a for loop that is not marked 'recursive'");
  }
  const Bound arg(rt_, "loop", args, params("iterable"), 1);
  if (!arg) return Value();
  Text out(rt_);
  Flow flow = Flow::next;
  rt_.at(at);
  run_loop(*loop.node, arg[0], loop.scope, loop.depth + 1, out, flow);
  return out.value();
}

}  // namespace plumbline::templates::jinja
