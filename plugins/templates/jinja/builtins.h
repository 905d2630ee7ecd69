#pragma once

#include <array>
#include <span>
#include <string_view>

#include "ast.h"
#include "runtime.h"

/// The functions, filters, tests and methods that templates can name.
namespace plumbline::templates::jinja {

struct NamedValue {
  std::string_view name;
  Value value;
};

/// Arguments of one call, evaluated.
struct Args {
  std::span<const Value> positional;
  std::span<const NamedValue> named;

  Args without_first(std::size_t n) const { return {positional.subspan(n), named}; }
};

struct Filter {
  std::string_view name;
  Value (*function)(Runtime&, const Value& subject, const Args&);
  bool takes_arguments = true;

  Value apply(Runtime& rt, const Value& subject, const Args& args) const;
};

struct Test {
  std::string_view name;
  bool (*function)(Runtime&, const Value& subject, const Args&);
  bool takes_arguments = true;

  bool holds(Runtime& rt, const Value& subject, const Args& args) const;
};

/// For tables: a filter or test that only has a subject.
inline constexpr bool kNoArguments = false;

const Filter* find_filter(std::string_view name);
const Test* find_test(std::string_view name);
const Function* find_function(std::string_view name);

MethodsOfName find_methods(std::string_view name);
const Method* method_for(const MethodsOfName& methods, const Value& object);
inline const Method* find_method(const Value& object, std::string_view name) {
  return method_for(find_methods(name), object);
}

/// Matches arguments to parameter names, as Python does. Parameters that were not passed are
/// absent(). Fails, and gives back false, for too many, unknown, doubled or missing arguments.
bool bind(Runtime& rt, std::string_view callee, const Args& args,
          std::span<const std::string_view> names, std::span<Value> values, std::size_t n_required);

/// Arguments of a function with up to N parameters, by name and with defaults.
template <std::size_t N>
class Bound {
 public:
  Bound(Runtime& rt, std::string_view callee, const Args& args,
        const std::array<std::string_view, N>& names, std::size_t n_required = 0)
      : rt_(rt), callee_(callee), names_(names) {
    ok_ = jinja::bind(rt, callee, args, names_, values_, n_required);
  }

  explicit operator bool() const { return ok_; }
  bool has(std::size_t i) const { return !values_[i].is_absent(); }
  const Value& operator[](std::size_t i) const { return values_[i]; }

  bool flag(std::size_t i, bool otherwise) { return has(i) ? rt_.truth(values_[i]) : otherwise; }
  std::int64_t integer(std::size_t i, std::int64_t otherwise) {
    if (!has(i)) return otherwise;
    if (values_[i].is_integral()) return values_[i].as_integer();
    wrong(i, "an integer");
    return otherwise;
  }
  std::string_view string(std::size_t i, std::string_view otherwise) {
    if (!has(i)) return otherwise;
    if (values_[i].is_string()) return values_[i].view();
    wrong(i, "a string");
    return otherwise;
  }

 private:
  void wrong(std::size_t i, std::string_view expected) {
    if (values_[i].is_undefined()) {
      rt_.fail_undefined(values_[i]);
      return;
    }
    rt_.fail(ErrorKind::type, std::string(callee_) + ": argument '" + std::string(names_[i]) +
                                  "': '" + std::string(type_name(values_[i])) + "' seen, " +
                                  std::string(expected) + " expected");
  }

  Runtime& rt_;
  std::string_view callee_;
  std::array<std::string_view, N> names_;
  std::array<Value, N> values_;
  bool ok_;
};

template <std::size_t N>
Bound(Runtime&, std::string_view, const Args&, const std::array<std::string_view, N>&, std::size_t)
    -> Bound<N>;

template <typename... Names>
constexpr std::array<std::string_view, sizeof...(Names)> params(Names... names) {
  return {std::string_view(names)...};
}

// The tables, one for each file of builtins.
std::span<const Filter> text_filters();
std::span<const Filter> number_filters();
std::span<const Filter> sequence_filters();
std::span<const Filter> selection_filters();
std::span<const Test> all_tests();
std::span<const Function> all_functions();
std::span<const Method> string_methods();
std::span<const Method> string_question_methods();
std::span<const Method> dict_methods();
std::span<const Method> list_methods();
std::span<const Method> loop_methods();
std::span<const Method> cycler_methods();

/// transformers' own rule for what a namespace may hold; false, and an error, where it is broken.
bool check_namespace_name(Runtime& rt, std::string_view name);

/// `format % values`, Python's printf.
Value percent_format(Runtime& rt, const Value& format, const Value& values);
/// format.format(...), Python's str.format.
Value brace_format(Runtime& rt, const Value& format, const Args& args);

/// datetime.strftime in UTC and the C locale.
Value format_time(Runtime& rt, std::int64_t unix_s, std::string_view format);

/// The attribute path of map, sort, join...: "a.b.0", an integer, or absent for the item itself.
Value attribute_by_path(Runtime& rt, const Value& item, const Value& path, const Value& otherwise);

/// a * b, Python's repetition of strings, lists and tuples included; fails on others.
Value multiply(Runtime& rt, const Value& a, const Value& b);
Value add(Runtime& rt, const Value& a, const Value& b);
Value arithmetic(Runtime& rt, Operator op, const Value& a, const Value& b);

}  // namespace plumbline::templates::jinja
