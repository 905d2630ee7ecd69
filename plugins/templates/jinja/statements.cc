#include <algorithm>

#include "evaluator.h"
#include "printing.h"

namespace plumbline::templates::jinja {

void Evaluator::run(Text& out) {
  execute(program_.body, top_, out);
}

/// Every recursion of statements comes through here, so this is where it is bounded.
Evaluator::Flow Evaluator::execute(Body body, Scope* scope, Text& out) {
  Flow flow = Flow::next;
  if (rt_.enter()) {
    for (const Statement* statement : body) {
      if (!rt_.spend(1)) break;
      flow = execute(*statement, scope, out);
      if (flow != Flow::next) break;
    }
  }
  rt_.leave();
  return flow;
}

Evaluator::Flow Evaluator::execute(const Statement& statement, Scope* scope, Text& out) {
  rt_.at(statement.at);
  switch (statement.kind) {
    case StatementKind::data:
      out.add(static_cast<const DataStatement&>(statement).data);
      break;
    case StatementKind::print: {
      const Expr& expr = *static_cast<const PrintStatement&>(statement).value;
      const Value value = evaluate(expr, scope);
      rt_.at(expr.at);
      print(value, out);
      break;
    }
    case StatementKind::if_:
      return run_if(static_cast<const IfStatement&>(statement), scope, out);
    case StatementKind::for_:
      return run_for(static_cast<const ForStatement&>(statement), scope, out);
    case StatementKind::set: {
      const auto& node = static_cast<const SetStatement&>(statement);
      const Value value = evaluate(*node.value, scope);
      assign(*node.target, value, scope);
      break;
    }
    case StatementKind::set_block:
      return run_set_block(static_cast<const SetBlock&>(statement), scope);
    case StatementKind::filter_block:
      return run_filter_block(static_cast<const FilterBlock&>(statement), scope, out);
    case StatementKind::macro: {
      const auto& node = static_cast<const MacroStatement&>(statement);
      Value macro(Kind::macro);
      macro.macro = rt_.objects().make<Macro>(&node.macro, scope);
      bind_name(scope, node.symbol, macro);
      break;
    }
    case StatementKind::call_block:
      run_call_block(static_cast<const CallBlock&>(statement), scope, out);
      break;
    case StatementKind::with:
      return run_with(static_cast<const WithStatement&>(statement), scope, out);
    case StatementKind::scope:
      return execute(static_cast<const ScopeStatement&>(statement).body, inner(scope), out);
    case StatementKind::block: {
      const auto& node = static_cast<const BlockStatement&>(statement);
      return execute(node.body, inner(node.scoped ? scope : top_), out);
    }
    case StatementKind::break_:
      return Flow::break_loop;
    case StatementKind::continue_:
      return Flow::continue_loop;
  }
  return Flow::next;
}

void Evaluator::print(const Value& value, Text& out) {
  if (rt_.failed()) return;
  out.add(rt_.to_text(value).view());
}

Evaluator::Flow Evaluator::run_if(const IfStatement& node, Scope* scope, Text& out) {
  for (const Branch& branch : node.branches) {
    const Value test = evaluate(*branch.test, scope);
    rt_.at(branch.test->at);
    const bool chosen = rt_.truth(test);
    if (rt_.failed()) return Flow::next;
    if (chosen) return execute(branch.body, scope, out);
  }
  return execute(node.otherwise, scope, out);
}

// Loops -----------------------------------------------------------------------------------------

Evaluator::Flow Evaluator::run_for(const ForStatement& node, Scope* scope, Text& out) {
  const Value iterable = evaluate(*node.iterable, scope);
  rt_.at(node.iterable->at);
  Flow flow = Flow::next;
  if (!rt_.failed()) run_loop(node, iterable, scope, 1, out, flow);
  return flow;
}

/// The items for which the loop's own `if` holds.
std::vector<Value> Evaluator::filtered(const ForStatement& node, std::span<const Value> items,
                                       Scope* scope) {
  std::vector<Value> kept;
  Scope* inside = inner(scope);
  for (const Value& item : items) {
    assign(*node.target, item, inside);
    const Value test = evaluate(*node.test, inside);
    rt_.at(node.test->at);
    if (rt_.truth(test)) kept.push_back(item);
    if (rt_.failed()) break;
  }
  return kept;
}

void Evaluator::run_loop(const ForStatement& node, const Value& iterable, Scope* scope,
                         std::int64_t depth, Text& out, Flow& flow) {
  std::span<const Value> items = rt_.items(iterable);
  if (node.test != nullptr && !items.empty()) {
    const Value kept = rt_.list(filtered(node, items, scope));
    items = kept.kind == Kind::list ? kept.list->items : std::span<const Value>{};
  }
  if (rt_.failed()) return;
  if (items.empty()) {
    flow = execute(node.otherwise, inner(scope), out);
    return;
  }
  Value loop(Kind::loop);
  loop.loop = rt_.objects().make<Loop>(&node, scope, items, std::size_t{0}, depth, nullptr);
  Scope* inside = inner(scope);
  for (std::size_t i = 0; i < items.size() && !rt_.failed(); ++i) {
    loop.loop->at = i;
    if (node.makes_closures) {
      inside = inner(scope);
    } else {
      inside->n = 0;
    }
    bind_name(inside, kLoop, loop);
    assign(*node.target, items[i], inside);
    if (execute(node.body, inside, out) == Flow::break_loop) break;
  }
}

// Assignments -----------------------------------------------------------------------------------

void Evaluator::assign(const Expr& target, const Value& value, Scope* scope) {
  if (rt_.failed()) return;
  rt_.at(target.at);
  if (target.kind == ExprKind::name) {
    bind_name(scope, static_cast<const Name&>(target).symbol, value);
    return;
  }
  if (target.kind == ExprKind::namespace_target) {
    const auto& node = static_cast<const NamespaceTarget&>(target);
    const Value* space = find_name(scope, node.symbol);
    if (space == nullptr || space->kind != Kind::name_space) {
      rt_.fail(ErrorKind::type,
               "'" + std::string(node.text) + "' is no namespace: its attributes cannot be set");
      return;
    }
    if (check_namespace_name(rt_, node.attribute))
      DictBuilder(rt_, space->space).set(Value::string(node.attribute), value);
    return;
  }
  const auto& targets = static_cast<const ListExpr&>(target).items;
  const auto values = rt_.items(value);
  if (!rt_.failed() && values.size() != targets.size()) {
    rt_.fail(ErrorKind::type, std::to_string(values.size()) + " values to unpack seen, " +
                                  std::to_string(targets.size()) + " expected");
  }
  for (std::size_t i = 0; i < targets.size() && !rt_.failed(); ++i)
    assign(*targets[i], values[i], scope);
}

// Blocks ----------------------------------------------------------------------------------------

Value Evaluator::filter_captured(const Expr& filter, const Text& text, Scope* scope) {
  Scope* inside = inner(scope);
  bind_name(inside, kCaptured, text.value());
  return evaluate(filter, inside);
}

Evaluator::Flow Evaluator::run_set_block(const SetBlock& node, Scope* scope) {
  Text captured(rt_);
  const Flow flow = execute(node.body, inner(scope), captured);
  if (flow == Flow::next && !rt_.failed())
    assign(*node.target, filter_captured(*node.filter, captured, scope), scope);
  return flow;
}

Evaluator::Flow Evaluator::run_filter_block(const FilterBlock& node, Scope* scope, Text& out) {
  Text captured(rt_);
  const Flow flow = execute(node.body, inner(scope), captured);
  if (flow == Flow::next && !rt_.failed())
    print(filter_captured(*node.filter, captured, scope), out);
  return flow;
}

Evaluator::Flow Evaluator::run_with(const WithStatement& node, Scope* scope, Text& out) {
  Scope* inside = inner(scope);
  for (std::size_t i = 0; i < node.targets.size(); ++i) {
    assign(*node.targets[i], evaluate(*node.values[i], scope), inside);
  }
  return execute(node.body, inside, out);
}

void Evaluator::run_call_block(const CallBlock& node, Scope* scope, Text& out) {
  Value caller(Kind::macro);
  caller.macro = rt_.objects().make<Macro>(&node.caller, scope);
  print(call(*node.call, scope, &caller), out);
}

}  // namespace plumbline::templates::jinja
