// The tests of `is`. Source: jinja2/tests.py.

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

template <Kind kind>
bool is_kind(Runtime&, const Value& v, const Args&) {
  return v.kind == kind;
}

bool is_defined(Runtime&, const Value& v, const Args&) {
  return !v.is_undefined();
}
bool is_integer(Runtime&, const Value& v, const Args&) {
  return v.kind == Kind::integer || v.kind == Kind::big_integer;
}
bool is_number(Runtime&, const Value& v, const Args&) {
  return v.is_number() || v.kind == Kind::big_integer;
}
bool is_true(Runtime&, const Value& v, const Args&) {
  return v.kind == Kind::boolean && v.boolean;
}
bool is_false(Runtime&, const Value& v, const Args&) {
  return v.kind == Kind::boolean && !v.boolean;
}
bool is_escaped(Runtime&, const Value& v, const Args&) {
  return v.is_markup();
}

bool is_iterable(Runtime& rt, const Value& v, const Args&) {
  if (v.is_undefined()) rt.items(v);  // an error but in the hf profile
  return rt.is_iterable(v);
}

bool is_sequence(Runtime& rt, const Value& v, const Args&) {
  switch (v.kind) {
    case Kind::list:
      return v.list->flavor <= Flavor::group;
    case Kind::string:
    case Kind::dict:
    case Kind::range:
      return true;
    case Kind::undefined:
      rt.items(v);
      return true;
    default:
      return false;
  }
}

bool is_callable(Runtime&, const Value& v, const Args&) {
  return v.kind == Kind::macro || v.kind == Kind::method || v.kind == Kind::function ||
         v.kind == Kind::loop || v.kind == Kind::joiner;
}

bool all_cased(Runtime& rt, const Value& v, bool (*wanted)(char32_t), bool (*unwanted)(char32_t)) {
  const Value s = rt.to_text(v);
  bool seen = false;
  for (std::size_t at = 0; at < s.n_bytes;) {
    const char32_t point = text::next_point(s.view(), at);
    if (unwanted(point) || text::is_title(point)) return false;
    seen |= wanted(point);
  }
  return seen;
}

bool is_lower(Runtime& rt, const Value& v, const Args&) {
  return all_cased(rt, v, text::is_lower, text::is_upper);
}
bool is_upper(Runtime& rt, const Value& v, const Args&) {
  return all_cased(rt, v, text::is_upper, text::is_lower);
}

std::int64_t remainder_by(Runtime& rt, const Value& v, const Value& by) {
  const Value rest = arithmetic(rt, Operator::modulo, v, by);
  return rest.is_integral()                                  ? rest.as_integer()
         : rest.kind == Kind::floating && rest.floating == 0 ? 0
                                                             : 2;
}

bool is_odd(Runtime& rt, const Value& v, const Args&) {
  const Value rest = arithmetic(rt, Operator::modulo, v, Value::of(std::int64_t{2}));
  return rest.is_number() && rest.as_double() == 1;
}
bool is_even(Runtime& rt, const Value& v, const Args&) {
  return remainder_by(rt, v, Value::of(std::int64_t{2})) == 0;
}

bool is_divisible(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "divisibleby", args, params("num"), 1);
  return arg && remainder_by(rt, v, arg[0]) == 0;
}

bool is_filter(Runtime&, const Value& v, const Args&) {
  return v.is_string() && find_filter(v.view()) != nullptr;
}
bool is_test(Runtime&, const Value& v, const Args&) {
  return v.is_string() && find_test(v.view()) != nullptr;
}

bool is_same(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "sameas", args, params("other"), 1);
  return arg && identical(v, arg[0]);
}

bool is_in(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "in", args, params("seq"), 1);
  return arg && rt.contains(arg[0], v);
}

bool is_equal(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "equalto", args, params("other"), 1);
  return arg && rt.check_comparable(v, arg[0]) && equal(rt, v, arg[0]);
}

bool is_unequal(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "ne", args, params("other"), 1);
  return arg && rt.check_comparable(v, arg[0]) && !equal(rt, v, arg[0]);
}

template <Order wanted, bool or_equal>
bool is_ordered(Runtime& rt, const Value& v, const Args& args) {
  constexpr std::string_view kName = wanted == Order::less ? (or_equal ? "<=" : "<")
                                     : or_equal            ? ">="
                                                           : ">";
  const Bound arg(rt, kName, args, params("other"), 1);
  if (!arg) return false;
  const Order order = compare(rt, v, arg[0], kName);
  return order == wanted || (or_equal && order == Order::equal);
}

constexpr auto is_greater = is_ordered<Order::greater, false>;
constexpr auto is_at_least = is_ordered<Order::greater, true>;
constexpr auto is_less = is_ordered<Order::less, false>;
constexpr auto is_at_most = is_ordered<Order::less, true>;

constexpr Test kTests[] = {
    {"defined", is_defined, kNoArguments},
    {"undefined", is_kind<Kind::undefined>, kNoArguments},
    {"none", is_kind<Kind::none>, kNoArguments},
    {"boolean", is_kind<Kind::boolean>, kNoArguments},
    {"true", is_true, kNoArguments},
    {"false", is_false, kNoArguments},
    {"integer", is_integer, kNoArguments},
    {"float", is_kind<Kind::floating>, kNoArguments},
    {"number", is_number, kNoArguments},
    {"string", is_kind<Kind::string>, kNoArguments},
    {"mapping", is_kind<Kind::dict>, kNoArguments},
    {"sequence", is_sequence, kNoArguments},
    {"iterable", is_iterable, kNoArguments},
    {"callable", is_callable, kNoArguments},
    {"escaped", is_escaped, kNoArguments},
    {"lower", is_lower, kNoArguments},
    {"upper", is_upper, kNoArguments},
    {"odd", is_odd, kNoArguments},
    {"even", is_even, kNoArguments},
    {"divisibleby", is_divisible},
    {"filter", is_filter, kNoArguments},
    {"test", is_test, kNoArguments},
    {"sameas", is_same},
    {"in", is_in},
    {"==", is_equal},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"!=", is_unequal},
    {"ne", is_unequal},
    {">", is_greater},
    {"gt", is_greater},
    {"greaterthan", is_greater},
    {">=", is_at_least},
    {"ge", is_at_least},
    {"<", is_less},
    {"lt", is_less},
    {"lessthan", is_less},
    {"<=", is_at_most},
    {"le", is_at_most},
};

}  // namespace

std::span<const Test> all_tests() {
  return kTests;
}

}  // namespace plumbline::templates::jinja
