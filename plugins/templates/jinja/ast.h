#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arena.h"
#include "value.h"

/// The syntax tree. Nodes live in the program's arena and are never changed after parsing.
namespace plumbline::templates::jinja {

/// Bounds of nesting, checked while parsing, so that no walk over a tree needs a check of its own.
inline constexpr std::uint16_t kMaxExpressionHeight = 200;
inline constexpr int kMaxNesting = 200;

/// A variable's name as a number; the same name always has the same number within a template.
using Symbol = std::uint32_t;

enum class ExprKind : std::uint8_t {
  literal,
  name,
  list,
  dict,
  unary,
  binary,
  logic,
  concat,
  compare,
  attribute,
  element,
  slice,
  call,
  filter,
  test,
  conditional,
  namespace_target,  // only as a target of set
};

struct Expr {
  ExprKind kind;
  std::uint16_t height = 1;
  std::uint32_t at = 0;  // byte offset in the source
};

struct Literal : Expr {
  Value value;
};

struct Name : Expr {
  Symbol symbol = 0;
  std::string_view text;
};

struct ListExpr : Expr {
  std::span<Expr*> items;
  bool is_tuple = false;
};

struct DictExpr : Expr {
  std::span<Expr*> keys;
  std::span<Expr*> values;
};

enum class Operator : std::uint8_t {
  plus,
  minus,
  logic_not,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  logic_and,
  logic_or,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
};

struct Unary : Expr {
  Operator op;
  Expr* operand = nullptr;
};

struct Binary : Expr {  // binary and logic
  Operator op;
  Expr* left = nullptr;
  Expr* right = nullptr;
};

struct Concat : Expr {
  std::span<Expr*> parts;
};

struct Comparison {
  Operator op;
  Expr* right;
  std::uint32_t at;
};

struct Compare : Expr {
  Expr* first = nullptr;
  std::span<Comparison> rest;
};

/// Methods of one name, for each type that has such methods: looked up once, while parsing.
struct MethodsOfName {
  const Method* string = nullptr;
  const Method* dict = nullptr;
  const Method* list = nullptr;
  const Method* loop = nullptr;
  const Method* cycler = nullptr;
};

struct Attribute : Expr {
  Expr* object = nullptr;
  std::string_view name;
  MethodsOfName methods;
};

struct Element : Expr {
  Expr* object = nullptr;
  Expr* key = nullptr;
};

struct SliceExpr : Expr {  // a bound that was left out is null
  Expr* object = nullptr;
  Expr* start = nullptr;
  Expr* stop = nullptr;
  Expr* step = nullptr;
};

struct KeywordArgument {
  std::string_view name;
  Expr* value;
};

struct CallArguments {
  std::span<Expr*> positional;
  std::span<KeywordArgument> named;
  Expr* star = nullptr;
  Expr* star_star = nullptr;
};

struct Call : Expr {
  Expr* callee = nullptr;
  CallArguments arguments;
};

struct Filter;
struct Test;

struct FilterExpr : Expr {
  Expr* operand = nullptr;
  std::string_view name;
  const Filter* filter = nullptr;  // null: there is none of this name; an error where it is reached
  CallArguments arguments;
};

struct TestExpr : Expr {
  Expr* operand = nullptr;
  std::string_view name;
  const Test* test = nullptr;  // null: as for filters
  CallArguments arguments;
};

struct Conditional : Expr {
  Expr* test = nullptr;
  Expr* yes = nullptr;
  Expr* no = nullptr;  // null: no else
};

struct NamespaceTarget : Expr {
  Symbol symbol = 0;
  std::string_view text;
  std::string_view attribute;
};

// Statements ------------------------------------------------------------------------------------

enum class StatementKind : std::uint8_t {
  data,
  print,
  if_,
  for_,
  set,
  set_block,
  macro,
  call_block,
  filter_block,
  with,
  scope,  // generation and autoescape blocks
  block,
  break_,
  continue_,
};

struct Statement {
  StatementKind kind;
  std::uint32_t at = 0;
};

using Body = std::span<Statement*>;

struct DataStatement : Statement {
  std::string_view data;
};

struct PrintStatement : Statement {
  Expr* value = nullptr;
};

struct Branch {
  Expr* test;
  Body body;
};

struct IfStatement : Statement {
  std::span<Branch> branches;
  Body otherwise;
};

struct ForStatement : Statement {
  Expr* target = nullptr;
  Expr* iterable = nullptr;
  Expr* test = nullptr;
  Body body;
  Body otherwise;
  bool recursive = false;
  bool makes_closures = false;  // a macro inside may keep the scope of an iteration alive
};

struct SetStatement : Statement {
  Expr* target = nullptr;
  Expr* value = nullptr;
};

/// `filter` is a chain of filters whose innermost operand is the name kCaptured.
struct SetBlock : Statement {
  Expr* target = nullptr;
  Expr* filter = nullptr;
  Body body;
};

struct FilterBlock : Statement {
  Expr* filter = nullptr;
  Body body;
};

struct Parameter {
  Symbol symbol;
  std::string_view name;
  Expr* otherwise;  // null: no default
};

struct MacroNode {
  std::string_view name;
  std::span<Parameter> parameters;
  Body body;
  bool uses_varargs = false;
  bool uses_kwargs = false;
  bool uses_caller = false;
};

struct MacroStatement : Statement {
  Symbol symbol = 0;
  MacroNode macro;
};

struct CallBlock : Statement {
  MacroNode caller;
  Call* call = nullptr;
};

struct WithStatement : Statement {
  std::span<Expr*> targets;
  std::span<Expr*> values;
  Body body;
};

struct ScopeStatement : Statement {
  Body body;
};

/// Without templates that extend others, a block prints where it stands. It sees the variables of
/// the template's top level, and those around it only if it is marked `scoped`.
struct BlockStatement : Statement {
  Body body;
  bool scoped = false;
};

// Symbols that the engine itself uses; the parser gives them these numbers first.
inline constexpr Symbol kCaptured =
    0;  // text that a filter block or set block hands to its filters
inline constexpr Symbol kLoop = 1;
inline constexpr Symbol kCaller = 2;
inline constexpr Symbol kVarargs = 3;
inline constexpr Symbol kKwargs = 4;

/// A parsed template: the source with line ends normalised, and the tree over it.
struct Program {
  std::string source;
  Budget budget;  // a tree is proportional to its source, which is bounded
  Arena arena{budget};
  Body body;
  std::vector<std::string_view> symbols;
};

}  // namespace plumbline::templates::jinja
