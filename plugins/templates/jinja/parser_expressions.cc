#include "builtins.h"
#include "parser.h"

namespace plumbline::templates::jinja {

void Parser::hold(Expr& parent, const Expr* child) {
  if (child == nullptr || child->height < parent.height) return;
  parent.height = static_cast<std::uint16_t>(child->height + 1);
  if (parent.height > kMaxExpressionHeight) {
    fail(parent.at,
         "expression nested deeper than " + std::to_string(kMaxExpressionHeight) + " levels");
    parent.height = 1;
  }
}

void Parser::hold(Expr& parent, const CallArguments& arguments) {
  for (const Expr* argument : arguments.positional) hold(parent, argument);
  for (const KeywordArgument& argument : arguments.named) hold(parent, argument.value);
  hold(parent, arguments.star);
  hold(parent, arguments.star_star);
}

Expr* Parser::binary(ExprKind kind, Operator op, std::uint32_t at, Expr* left, Expr* right) {
  auto* node = expr<Binary>(kind, at);
  node->op = op;
  node->left = left;
  node->right = right;
  hold(*node, left);
  hold(*node, right);
  return node;
}

/// One expression, or several with commas between them: a tuple.
Expr* Parser::tuple(bool with_conditional, bool parenthesised, std::string_view end_name) {
  const std::uint32_t at = current_.at;
  const auto ends = [&] {
    return at_end() || current_.kind == TokenKind::variable_end ||
           current_.kind == TokenKind::block_end || current_.is(")") ||
           (!end_name.empty() && current_.is_name(end_name));
  };
  std::vector<Expr*> items;
  bool is_tuple = false;
  while (!ends()) {
    items.push_back(with_conditional ? expression() : logic_or());
    if (!skip(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return items.front();
  if (items.empty() && !parenthesised) fail_seen("an expression");
  auto* node = expr<ListExpr>(ExprKind::list, at);
  node->is_tuple = true;
  node->items = program_.arena.copy(items);
  for (const Expr* item : items) hold(*node, item);
  return node;
}

Expr* Parser::conditional() {
  const Nesting nesting(*this);
  if (failed()) return nothing();
  Expr* value = logic_or();
  while (current_.is_name("if")) {
    auto* node = expr<Conditional>(ExprKind::conditional, take().at);
    node->yes = value;
    node->test = logic_or();
    if (skip_name("else")) node->no = conditional();
    hold(*node, node->yes);
    hold(*node, node->test);
    hold(*node, node->no);
    value = node;
  }
  return value;
}

Expr* Parser::logic_or() {
  Expr* left = logic_and();
  while (current_.is_name("or")) {
    const std::uint32_t at = take().at;
    left = binary(ExprKind::logic, Operator::logic_or, at, left, logic_and());
  }
  return left;
}

Expr* Parser::logic_and() {
  Expr* left = logic_not();
  while (current_.is_name("and")) {
    const std::uint32_t at = take().at;
    left = binary(ExprKind::logic, Operator::logic_and, at, left, logic_not());
  }
  return left;
}

Expr* Parser::logic_not() {
  if (!current_.is_name("not")) return comparison();
  const Nesting nesting(*this);
  if (failed()) return nothing();
  auto* node = expr<Unary>(ExprKind::unary, take().at);
  node->op = Operator::logic_not;
  node->operand = logic_not();
  hold(*node, node->operand);
  return node;
}

namespace {

struct OperatorText {
  std::string_view text;
  Operator op;
};

constexpr OperatorText kComparisons[] = {
    {"==", Operator::equal},      {"!=", Operator::not_equal}, {"<", Operator::less},
    {"<=", Operator::less_equal}, {">", Operator::greater},    {">=", Operator::greater_equal},
};
constexpr OperatorText kSums[] = {{"+", Operator::plus}, {"-", Operator::minus}};
constexpr OperatorText kProducts[] = {{"*", Operator::multiply},
                                      {"/", Operator::divide},
                                      {"//", Operator::floor_divide},
                                      {"%", Operator::modulo}};

const OperatorText* find_operator(std::span<const OperatorText> table, const Token& token) {
  for (const OperatorText& entry : table) {
    if (token.is(entry.text)) return &entry;
  }
  return nullptr;
}

}  // namespace

Expr* Parser::comparison() {
  Expr* first = sum();
  std::vector<Comparison> rest;
  for (;;) {
    const std::uint32_t at = current_.at;
    if (const OperatorText* found = find_operator(kComparisons, current_)) {
      take();
      rest.push_back({found->op, sum(), at});
    } else if (skip_name("in")) {
      rest.push_back({Operator::in, sum(), at});
    } else if (current_.is_name("not") && ahead().is_name("in")) {
      take();
      take();
      rest.push_back({Operator::not_in, sum(), at});
    } else {
      break;
    }
  }
  if (rest.empty()) return first;
  auto* node = expr<Compare>(ExprKind::compare, rest.front().at);
  node->first = first;
  node->rest = program_.arena.copy(rest);
  hold(*node, first);
  for (const Comparison& comparison : rest) hold(*node, comparison.right);
  return node;
}

Expr* Parser::sum() {
  Expr* left = concatenation();
  while (const OperatorText* found = find_operator(kSums, current_)) {
    const std::uint32_t at = take().at;
    left = binary(ExprKind::binary, found->op, at, left, concatenation());
  }
  return left;
}

Expr* Parser::concatenation() {
  Expr* first = product();
  if (!current_.is("~")) return first;
  auto* node = expr<Concat>(ExprKind::concat, current_.at);
  std::vector<Expr*> parts{first};
  while (skip("~")) parts.push_back(product());
  node->parts = program_.arena.copy(parts);
  for (const Expr* part : parts) hold(*node, part);
  return node;
}

Expr* Parser::product() {
  Expr* left = power();
  while (const OperatorText* found = find_operator(kProducts, current_)) {
    const std::uint32_t at = take().at;
    left = binary(ExprKind::binary, found->op, at, left, power());
  }
  return left;
}

Expr* Parser::power() {
  Expr* left = unary(true);
  while (current_.is("**")) {
    const std::uint32_t at = take().at;
    left = binary(ExprKind::binary, Operator::power, at, left, unary(true));
  }
  return left;
}

Expr* Parser::unary(bool with_filter) {
  const Nesting nesting(*this);
  if (failed()) return nothing();
  Expr* operand = nullptr;
  if (current_.is("-") || current_.is("+")) {
    const Token sign = take();
    auto* node = expr<Unary>(ExprKind::unary, sign.at);
    node->op = sign.is("-") ? Operator::minus : Operator::plus;
    node->operand = unary(false);
    hold(*node, node->operand);
    operand = node;
  } else {
    operand = primary();
  }
  operand = postfix(operand);
  return with_filter ? filters_and_tests(operand) : operand;
}

Expr* Parser::primary() {
  const Token token = current_;
  const auto literal = [&](const Value& value) {
    auto* node = expr<Literal>(ExprKind::literal, token.at);
    node->value = value;
    return node;
  };
  switch (token.kind) {
    case TokenKind::name: {
      take();
      const std::string_view text = token.text;
      if (text == "true" || text == "True") return literal(Value::of(true));
      if (text == "false" || text == "False") return literal(Value::of(false));
      if (text == "none" || text == "None") return literal(Value::none());
      const Symbol found = symbol(text);
      if (macro_ != nullptr) {
        macro_->uses_caller |= found == kCaller;
        macro_->uses_varargs |= found == kVarargs;
        macro_->uses_kwargs |= found == kKwargs;
      }
      return name_node(found, text, token.at);
    }
    case TokenKind::string:
      return string_literal();
    case TokenKind::integer:
    case TokenKind::floating:
      take();
      return literal(token.value);
    case TokenKind::operator_:
      if (token.text == "(") {
        take();
        Expr* inner = tuple(true, true);
        expect(")");
        return inner;
      }
      if (token.text == "[") return list_literal();
      if (token.text == "{") return dict_literal();
      break;
    default:
      break;
  }
  fail_seen("an expression");
  return nothing();
}

/// Adjacent strings are one string, as in Python.
Expr* Parser::string_literal() {
  auto* node = expr<Literal>(ExprKind::literal, current_.at);
  node->value = take().value;
  if (current_.kind != TokenKind::string) return node;
  std::string all(node->value.view());
  while (current_.kind == TokenKind::string) all += take().value.view();
  node->value = Value::string(program_.arena.text(all));
  return node;
}

Expr* Parser::list_literal() {
  auto* node = expr<ListExpr>(ExprKind::list, take().at);
  std::vector<Expr*> items;
  while (!failed() && !current_.is("]")) {
    items.push_back(expression());
    hold(*node, items.back());
    if (!skip(",")) break;
  }
  expect("]");
  node->items = program_.arena.copy(items);
  return node;
}

Expr* Parser::dict_literal() {
  auto* node = expr<DictExpr>(ExprKind::dict, take().at);
  std::vector<Expr*> keys;
  std::vector<Expr*> values;
  while (!failed() && !current_.is("}")) {
    keys.push_back(expression());
    expect(":");
    values.push_back(expression());
    hold(*node, keys.back());
    hold(*node, values.back());
    if (!skip(",")) break;
  }
  expect("}");
  node->keys = program_.arena.copy(keys);
  node->values = program_.arena.copy(values);
  return node;
}

Expr* Parser::postfix(Expr* operand) {
  for (;;) {
    if (current_.is(".") || current_.is("[")) {
      operand = subscript(operand);
    } else if (current_.is("(")) {
      operand = call(operand);
    } else {
      return operand;
    }
  }
}

Expr* Parser::subscript(Expr* object) {
  const Token token = take();
  if (token.is(".")) {
    if (current_.kind == TokenKind::name) {
      auto* node = expr<Attribute>(ExprKind::attribute, token.at);
      node->object = object;
      node->name = take().text;
      node->methods = find_methods(node->name);
      hold(*node, object);
      return node;
    }
    if (current_.kind != TokenKind::integer) fail_seen("a name or number");
    auto* key = expr<Literal>(ExprKind::literal, current_.at);
    key->value = take().value;
    auto* node = expr<Element>(ExprKind::element, token.at);
    node->object = object;
    node->key = key;
    hold(*node, object);
    return node;
  }
  bool is_slice = false;
  const std::uint32_t key_at = current_.at;
  Expr* node = subscript_key(object, token.at, is_slice);
  if (!is_slice && current_.is(",")) {  // x[a, b] means x[(a, b)]
    std::vector<Expr*> items{static_cast<Element*>(node)->key};
    while (skip(",")) items.push_back(expression());
    auto* key = expr<ListExpr>(ExprKind::list, key_at);
    key->is_tuple = true;
    key->items = program_.arena.copy(items);
    for (const Expr* item : items) hold(*key, item);
    static_cast<Element*>(node)->key = key;
    hold(*node, key);
  }
  expect("]");
  return node;
}

/// What stands in square brackets: a key, or a slice.
Expr* Parser::subscript_key(Expr* object, std::uint32_t at, bool& is_slice) {
  Expr* start = current_.is(":") ? nullptr : expression();
  if (!current_.is(":")) {
    auto* node = expr<Element>(ExprKind::element, at);
    node->object = object;
    node->key = start;
    hold(*node, object);
    hold(*node, start);
    return node;
  }
  is_slice = true;
  take();
  auto* node = expr<SliceExpr>(ExprKind::slice, at);
  node->object = object;
  node->start = start;
  if (!current_.is(":") && !current_.is("]")) node->stop = expression();
  if (skip(":") && !current_.is("]")) node->step = expression();
  hold(*node, object);
  hold(*node, node->start);
  hold(*node, node->stop);
  hold(*node, node->step);
  return node;
}

Expr* Parser::filters_and_tests(Expr* operand) {
  for (;;) {
    if (current_.is("|")) {
      operand = filter(operand);
    } else if (current_.is_name("is")) {
      operand = test(operand);
    } else if (current_.is("(")) {
      operand = call(operand);
    } else {
      return operand;
    }
  }
}

/// A name with dots in it: jinja2 allows them in names of filters and tests.
std::string_view Parser::dotted_name() {
  std::string_view first = expect_name().text;
  if (!current_.is(".")) return first;
  std::string all(first);
  while (skip(".")) all += "." + std::string(expect_name().text);
  return program_.arena.text(all);
}

/// The current token is the bar before the filter, or, in a filter block, its name.
Expr* Parser::filter(Expr* operand) {
  skip("|");
  auto* node = expr<FilterExpr>(ExprKind::filter, current_.at);
  node->operand = operand;
  node->name = dotted_name();
  node->filter = find_filter(node->name);
  if (current_.is("(")) node->arguments = arguments();
  hold(*node, operand);
  hold(*node, node->arguments);
  return node;
}

Expr* Parser::test(Expr* operand) {
  take();  // is
  const bool negated = skip_name("not");
  auto* node = expr<TestExpr>(ExprKind::test, current_.at);
  node->operand = operand;
  node->name = dotted_name();
  node->test = find_test(node->name);
  const bool begins_argument =
      current_.kind == TokenKind::name || current_.kind == TokenKind::string ||
      current_.kind == TokenKind::integer || current_.kind == TokenKind::floating ||
      current_.is("[") || current_.is("{");
  if (current_.is("(")) {
    node->arguments = arguments();
  } else if (begins_argument && !current_.is_name("else") && !current_.is_name("or") &&
             !current_.is_name("and")) {
    if (current_.is_name("is")) fail_seen("the end of the test: tests cannot be chained");
    const std::vector<Expr*> one{postfix(primary())};
    node->arguments.positional = program_.arena.copy(one);
  }
  hold(*node, operand);
  hold(*node, node->arguments);
  if (!negated) return node;
  auto* outer = expr<Unary>(ExprKind::unary, node->at);
  outer->op = Operator::logic_not;
  outer->operand = node;
  hold(*outer, node);
  return outer;
}

Expr* Parser::call(Expr* callee) {
  auto* node = expr<Call>(ExprKind::call, current_.at);
  node->callee = callee;
  node->arguments = arguments();
  hold(*node, callee);
  hold(*node, node->arguments);
  return node;
}

CallArguments Parser::arguments() {
  CallArguments found;
  std::vector<Expr*> positional;
  std::vector<KeywordArgument> named;
  expect("(");
  while (!failed() && !current_.is(")")) {
    if (current_.is("*") && found.star == nullptr && found.star_star == nullptr) {
      take();
      found.star = expression();
    } else if (current_.is("**") && found.star_star == nullptr) {
      take();
      found.star_star = expression();
    } else if (current_.kind == TokenKind::name && ahead().is("=") && found.star_star == nullptr) {
      const std::string_view name = take().text;
      take();
      named.push_back({name, expression()});
    } else if (named.empty() && found.star == nullptr && found.star_star == nullptr) {
      positional.push_back(expression());
    } else {
      fail_seen("a named argument after named or starred ones");
    }
    if (!skip(",")) break;
  }
  expect(")");
  found.positional = program_.arena.copy(positional);
  found.named = program_.arena.copy(named);
  return found;
}

}  // namespace plumbline::templates::jinja
