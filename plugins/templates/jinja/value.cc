#include "value.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "runtime.h"

namespace plumbline::templates::jinja {
namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t more) {
  return (h ^ more) * 0x9E3779B97F4A7C15U ^ (h >> 29);
}

/// The integer that a double equals, if there is one in 64 bits: equal numbers must hash equal.
bool as_exact_integer(double d, std::int64_t& out) {
  if (!(d >= -9223372036854775808.0 && d < 9223372036854775808.0) || d != std::floor(d))
    return false;
  out = static_cast<std::int64_t>(d);
  return true;
}

Order order_of(bool less, bool equal) {
  return less ? Order::less : equal ? Order::equal : Order::greater;
}

/// Exact comparison of an integer with a double (a cast to double would lose low bits).
Order compare_numbers(std::int64_t i, double d) {
  if (std::isnan(d)) return Order::unordered;
  if (d >= 9223372036854775808.0) return Order::less;
  if (d < -9223372036854775808.0) return Order::greater;
  const double floor = std::floor(d);
  const auto whole = static_cast<std::int64_t>(floor);
  if (i != whole) return i < whole ? Order::less : Order::greater;
  return floor == d ? Order::equal : Order::less;
}

Order reversed(Order order) {
  return order == Order::less ? Order::greater : order == Order::greater ? Order::less : order;
}

Order compare_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) {
    return order_of(a.as_integer() < b.as_integer(), a.as_integer() == b.as_integer());
  }
  if (a.is_integral()) return compare_numbers(a.as_integer(), b.floating);
  if (b.is_integral()) return reversed(compare_numbers(b.as_integer(), a.floating));
  if (std::isnan(a.floating) || std::isnan(b.floating)) return Order::unordered;
  return order_of(a.floating < b.floating, a.floating == b.floating);
}

bool is_tuple(Flavor flavor) {
  return flavor == Flavor::tuple || flavor == Flavor::group;
}

bool same_sequence_type(const List& a, const List& b) {
  return a.flavor == b.flavor || (is_tuple(a.flavor) && is_tuple(b.flavor));
}

bool equal_dicts(Runtime& rt, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const Entry& entry : a.entries) {
    const Value* other = find(rt, b, entry.key);
    if (other == nullptr || !equal(rt, entry.value, *other)) return false;
  }
  return true;
}

/// A whole number of any size against another kind of number; big integers lie outside the 64 bits.
Order compare_big(const Value& big, const Value& other) {
  const bool negative = big.view().front() == '-';
  if (other.kind == Kind::floating) {
    const double d = std::strtod(std::string(big.view()).c_str(), nullptr);
    if (std::isnan(other.floating)) return Order::unordered;
    return order_of(d < other.floating, d == other.floating);
  }
  if (other.kind != Kind::big_integer) return negative ? Order::less : Order::greater;
  const bool other_negative = other.view().front() == '-';
  if (negative != other_negative) return negative ? Order::less : Order::greater;
  const Order magnitude = big.n_bytes != other.n_bytes
                              ? order_of(big.n_bytes < other.n_bytes, false)
                              : order_of(big.view() < other.view(), big.view() == other.view());
  return negative ? reversed(magnitude) : magnitude;
}

bool is_any_number(const Value& v) {
  return v.is_number() || v.kind == Kind::big_integer;
}

Order compare_any_numbers(const Value& a, const Value& b) {
  if (a.kind == Kind::big_integer) return compare_big(a, b);
  if (b.kind == Kind::big_integer) return reversed(compare_big(b, a));
  return compare_numbers(a, b);
}

}  // namespace

std::uint16_t depth_of(const Value& value) {
  return value.kind == Kind::list   ? value.list->depth
         : value.kind == Kind::dict ? value.dict->depth
                                    : 0;
}

std::string_view type_name(const Value& value) {
  switch (value.kind) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
    case Kind::big_integer:
      return "int";
    case Kind::floating:
      return "float";
    case Kind::string:
      return "str";
    case Kind::dict:
      return "dict";
    case Kind::range:
      return "range";
    case Kind::iterator:
      return "generator";
    case Kind::name_space:
      return "Namespace";
    case Kind::macro:
      return "Macro";
    case Kind::loop:
      return "LoopContext";
    case Kind::method:
      return "builtin_function_or_method";
    case Kind::function:
      return "function";
    case Kind::cycler:
      return "Cycler";
    case Kind::joiner:
      return "Joiner";
    case Kind::list:
      break;
  }
  switch (value.list->flavor) {
    case Flavor::list:
      return "list";
    case Flavor::tuple:
    case Flavor::group:
      return "tuple";
    case Flavor::dict_items:
      return "dict_items";
    case Flavor::dict_keys:
      return "dict_keys";
    case Flavor::dict_values:
      return "dict_values";
  }
  return "list";
}

bool is_hashable(const Value& value) {
  if (value.kind == Kind::dict) return false;
  if (value.kind != Kind::list) return true;
  return is_tuple(value.list->flavor) && std::ranges::all_of(value.list->items, is_hashable);
}

std::uint64_t hash(Runtime& rt, const Value& value) {
  std::int64_t whole = 0;
  switch (value.kind) {
    case Kind::string:
    case Kind::big_integer:
      rt.spend_bytes(value.n_bytes);
      return std::hash<std::string_view>{}(value.view());
    case Kind::boolean:
    case Kind::integer:
      return mix(1, static_cast<std::uint64_t>(value.as_integer()));
    case Kind::floating:
      return as_exact_integer(value.floating, whole) ? mix(1, static_cast<std::uint64_t>(whole))
                                                     : std::hash<double>{}(value.floating);
    case Kind::list: {
      std::uint64_t h = 2;
      for (const Value& item : value.list->items) h = mix(h, hash(rt, item));
      rt.spend(value.list->items.size());
      return h;
    }
    case Kind::undefined:
    case Kind::none:
      return 3;
    default:
      return mix(4, reinterpret_cast<std::uintptr_t>(value.bytes));
  }
}

const Value* find(Runtime& rt, const Dict& dict, const Value& key) {
  if (key.is_string()) return find(rt, dict, key.view());
  if (!is_hashable(key)) return nullptr;
  if (dict.index.empty()) {
    for (const Entry& entry : dict.entries) {
      if (equal(rt, entry.key, key)) return &entry.value;
    }
    return nullptr;
  }
  const std::size_t mask = dict.index.size() - 1;
  for (std::size_t slot = hash(rt, key) & mask; dict.index[slot] != 0; slot = (slot + 1) & mask) {
    if (!rt.spend(1)) break;  // keys may be chosen to collide
    const Entry& entry = dict.entries[dict.index[slot] - 1];
    if (equal(rt, entry.key, key)) return &entry.value;
  }
  return nullptr;
}

const Value* find(Runtime& rt, const Dict& dict, std::string_view key) {
  if (dict.index.empty()) {
    for (const Entry& entry : dict.entries) {
      if (entry.key.is_string() && entry.key.view() == key) return &entry.value;
    }
    return nullptr;
  }
  const std::size_t mask = dict.index.size() - 1;
  std::size_t slot = hash(rt, Value::string(key, false)) & mask;
  for (; dict.index[slot] != 0; slot = (slot + 1) & mask) {
    if (!rt.spend(1)) break;
    const Entry& entry = dict.entries[dict.index[slot] - 1];
    if (entry.key.is_string() && entry.key.view() == key) return &entry.value;
  }
  return nullptr;
}

bool equal(Runtime& rt, const Value& a, const Value& b) {
  if (!rt.spend(1)) return false;
  if (is_any_number(a) && is_any_number(b)) return compare_any_numbers(a, b) == Order::equal;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      rt.spend_bytes(std::min(a.n_bytes, b.n_bytes));
      return a.view() == b.view();
    case Kind::list: {
      const List& x = *a.list;
      const List& y = *b.list;
      if (!same_sequence_type(x, y) || x.items.size() != y.items.size()) return false;
      if (x.flavor == Flavor::dict_values) return &x == &y;
      return std::equal(x.items.begin(), x.items.end(), y.items.begin(),
                        [&](const Value& i, const Value& j) { return equal(rt, i, j); });
    }
    case Kind::dict:
      return equal_dicts(rt, *a.dict, *b.dict);
    case Kind::range:
      return a.range->n == b.range->n &&
             (a.range->n == 0 || (a.range->start == b.range->start &&
                                  (a.range->n == 1 || a.range->step == b.range->step)));
    case Kind::method:
      return a.method->method == b.method->method && equal(rt, a.method->self, b.method->self);
    default:
      return a.bytes == b.bytes;
  }
}

Order compare(Runtime& rt, const Value& a, const Value& b, std::string_view operator_text) {
  if (!rt.spend(1)) return Order::unordered;
  if (is_any_number(a) && is_any_number(b)) return compare_any_numbers(a, b);
  if (a.is_string() && b.is_string()) {
    rt.spend_bytes(std::min(a.n_bytes, b.n_bytes));
    return order_of(a.view() < b.view(), a.view() == b.view());  // UTF-8 sorts as its code points
  }
  if (a.kind == Kind::list && b.kind == Kind::list && same_sequence_type(*a.list, *b.list) &&
      a.list->flavor <= Flavor::group) {
    const auto x = a.list->items;
    const auto y = b.list->items;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (!equal(rt, x[i], y[i])) return compare(rt, x[i], y[i], operator_text);
    }
    return order_of(x.size() < y.size(), x.size() == y.size());
  }
  if (a.is_undefined() || b.is_undefined()) {
    rt.fail_undefined(a.is_undefined() ? a : b);
  } else {
    rt.fail(ErrorKind::type, "'" + std::string(operator_text) + "' is not supported between '" +
                                 std::string(type_name(a)) + "' and '" + std::string(type_name(b)) +
                                 "'");
  }
  return Order::unordered;
}

bool identical(const Value& a, const Value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::none:
      return true;
    case Kind::boolean:
      return a.boolean == b.boolean;
    case Kind::integer:
      return a.integer == b.integer;
    case Kind::string:
      return a.view() == b.view();
    case Kind::undefined:
    case Kind::floating:
    case Kind::big_integer:
      return false;
    default:
      return a.bytes == b.bytes;
  }
}

}  // namespace plumbline::templates::jinja
