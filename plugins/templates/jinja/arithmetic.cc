// Python's arithmetic: integers of 64 bits (beyond that is an error), floats, and + * % on
// sequences.

#include <cmath>

#include "builtins.h"
#include "text_functions.h"

namespace plumbline::templates::jinja {
namespace {

std::string_view operator_text(Operator op) {
  switch (op) {
    case Operator::plus:
      return "+";
    case Operator::minus:
      return "-";
    case Operator::multiply:
      return "*";
    case Operator::divide:
      return "/";
    case Operator::floor_divide:
      return "//";
    case Operator::modulo:
      return "%";
    case Operator::power:
      return "**";
    default:
      return "?";
  }
}

Value overflow(Runtime& rt, Operator op) {
  return rt.fail(ErrorKind::type,
                 "result of '" + std::string(operator_text(op)) + "' does not fit 64 bits");
}

Value wrong_types(Runtime& rt, Operator op, const Value& a, const Value& b) {
  if (a.is_undefined()) return rt.fail_undefined(a);
  if (b.is_undefined()) return rt.fail_undefined(b);
  if (a.kind == Kind::big_integer || b.kind == Kind::big_integer) return overflow(rt, op);
  return rt.fail(ErrorKind::type,
                 "'" + std::string(operator_text(op)) + "' between '" + std::string(type_name(a)) +
                     "' and '" + std::string(type_name(b)) + "' seen, matching types expected");
}

Value division_by_zero(Runtime& rt) {
  return rt.fail(ErrorKind::type, "division by zero");
}

double float_modulo(double a, double b) {
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

double float_floor_divide(double a, double b) {
  // Source: CPython, float_divmod: floor(a / b) can be off by one.
  const double mod = float_modulo(a, b);
  const double div = (a - mod) / b;
  if (div == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(div);
  return div - floor > 0.5 ? floor + 1 : floor;
}

Value integer_power(Runtime& rt, std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result))
      return overflow(rt, Operator::power);
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
      return overflow(rt, Operator::power);
  }
  return Value::of(result);
}

Value integers(Runtime& rt, Operator op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Operator::plus:
      return __builtin_add_overflow(a, b, &result) ? overflow(rt, op) : Value::of(result);
    case Operator::minus:
      return __builtin_sub_overflow(a, b, &result) ? overflow(rt, op) : Value::of(result);
    case Operator::multiply:
      return __builtin_mul_overflow(a, b, &result) ? overflow(rt, op) : Value::of(result);
    case Operator::divide:
      return b == 0 ? division_by_zero(rt)
                    : Value::of(static_cast<double>(a) / static_cast<double>(b));
    case Operator::floor_divide:
    case Operator::modulo: {
      if (b == 0) return division_by_zero(rt);
      if (b == -1) {  // INT64_MIN / -1 does not fit
        if (op == Operator::modulo) return Value::of(std::int64_t{0});
        return __builtin_sub_overflow(std::int64_t{0}, a, &result) ? overflow(rt, op)
                                                                   : Value::of(result);
      }
      const std::int64_t rest = a % b;
      const bool away = rest != 0 && (rest < 0) != (b < 0);
      return op == Operator::modulo ? Value::of(away ? rest + b : rest)
                                    : Value::of(a / b - (away ? 1 : 0));
    }
    case Operator::power:
      if (b >= 0) return integer_power(rt, a, b);
      return a == 0 ? division_by_zero(rt)
                    : Value::of(std::pow(static_cast<double>(a), static_cast<double>(b)));
    default:
      return Value();
  }
}

Value floats(Runtime& rt, Operator op, double a, double b) {
  switch (op) {
    case Operator::plus:
      return Value::of(a + b);
    case Operator::minus:
      return Value::of(a - b);
    case Operator::multiply:
      return Value::of(a * b);
    case Operator::divide:
      return b == 0 ? division_by_zero(rt) : Value::of(a / b);
    case Operator::floor_divide:
      return b == 0 ? division_by_zero(rt) : Value::of(float_floor_divide(a, b));
    case Operator::modulo:
      return b == 0 ? division_by_zero(rt) : Value::of(float_modulo(a, b));
    case Operator::power: {
      if (a == 0 && b < 0) return division_by_zero(rt);
      if (a < 0 && b != std::floor(b))
        return rt.fail(ErrorKind::type, "'**' with a complex result seen");
      const double result = std::pow(a, b);
      if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) {
        return rt.fail(ErrorKind::type, "result of '**' is too large for a float");
      }
      return Value::of(result);
    }
    default:
      return Value();
  }
}

bool is_plain_sequence(const Value& v) {
  return v.kind == Kind::list && v.list->flavor <= Flavor::group;
}

Value repeat(Runtime& rt, const Value& what, std::int64_t n) {
  n = std::max<std::int64_t>(n, 0);
  const std::uint64_t one = what.is_string() ? what.n_bytes : what.list->items.size();
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(one, static_cast<std::uint64_t>(n), &total) || !rt.fits(total)) {
    return rt.fail(ErrorKind::limit,
                   "repetition " + std::to_string(n) + " times seen: out of memory");
  }
  if (what.is_string()) {
    if (total == 0) return Value::string("", true);
    char* bytes = rt.text_bytes(total);
    if (bytes == nullptr) return Value();
    const bool marked = rt.marks() != nullptr && rt.marks()->any(what.view());
    for (std::uint64_t at = 0; at < total; at += one) {
      std::copy(what.bytes, what.bytes + one, bytes + at);
      if (marked) rt.copy_marks(what.view(), bytes + at);
    }
    return Value::string({bytes, static_cast<std::size_t>(total)}, what.is_ascii())
        .as_kind_of(what);
  }
  if (!rt.spend(total) || !rt.fits(total * sizeof(Value))) return Value();
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(total));
  const auto source = what.list->items;
  for (std::uint64_t i = 0; i < total; ++i) items.push_back(source[i % one]);
  return rt.list(items, what.list->flavor == Flavor::list ? Flavor::list : Flavor::tuple);
}

}  // namespace

Value add(Runtime& rt, const Value& a, const Value& b) {
  if (a.is_markup() || b.is_markup()) {
    if (a.is_string() && b.is_string())
      return rt.concat(escaped(rt, a), escaped(rt, b)).as_markup();
  } else if (a.is_string() && b.is_string()) {
    return rt.concat(a, b);
  }
  if (is_plain_sequence(a) && is_plain_sequence(b) &&
      (a.list->flavor == Flavor::list) == (b.list->flavor == Flavor::list)) {
    std::vector<Value> items(a.list->items.begin(), a.list->items.end());
    items.insert(items.end(), b.list->items.begin(), b.list->items.end());
    return rt.list(items, a.list->flavor == Flavor::list ? Flavor::list : Flavor::tuple);
  }
  if (a.is_integral() && b.is_integral())
    return integers(rt, Operator::plus, a.as_integer(), b.as_integer());
  if (a.is_number() && b.is_number()) return Value::of(a.as_double() + b.as_double());
  return wrong_types(rt, Operator::plus, a, b);
}

Value multiply(Runtime& rt, const Value& a, const Value& b) {
  const auto repeatable = [](const Value& v) { return v.is_string() || is_plain_sequence(v); };
  if (repeatable(a) && b.is_integral()) return repeat(rt, a, b.as_integer());
  if (repeatable(b) && a.is_integral()) return repeat(rt, b, a.as_integer());
  if (a.is_integral() && b.is_integral())
    return integers(rt, Operator::multiply, a.as_integer(), b.as_integer());
  if (a.is_number() && b.is_number()) return Value::of(a.as_double() * b.as_double());
  return wrong_types(rt, Operator::multiply, a, b);
}

Value arithmetic(Runtime& rt, Operator op, const Value& a, const Value& b) {
  if (op == Operator::plus) return add(rt, a, b);
  if (op == Operator::multiply) return multiply(rt, a, b);
  if (op == Operator::modulo && a.is_string()) return percent_format(rt, a, b);
  if (a.is_integral() && b.is_integral()) return integers(rt, op, a.as_integer(), b.as_integer());
  if (a.is_number() && b.is_number()) return floats(rt, op, a.as_double(), b.as_double());
  return wrong_types(rt, op, a, b);
}

}  // namespace plumbline::templates::jinja
