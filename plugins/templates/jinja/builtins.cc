#include "builtins.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace plumbline::templates::jinja {
namespace {

template <typename Entry>
using Table = std::unordered_map<std::string_view, const Entry*>;

template <typename Entry>
Table<Entry> table_of(std::initializer_list<std::span<const Entry>> parts) {
  Table<Entry> table;
  for (const auto& part : parts) {
    for (const Entry& entry : part) table.emplace(entry.name, &entry);
  }
  return table;
}

/// False, and an error, when a filter or test without parameters was given arguments.
bool check_arguments(Runtime& rt, std::string_view name, bool takes_arguments, const Args& args) {
  if (takes_arguments || (args.positional.empty() && args.named.empty())) return true;
  rt.fail(ErrorKind::type, std::string(name) + ": arguments seen, none expected");
  return false;
}

template <typename Entry>
const Entry* find_in(const Table<Entry>& table, std::string_view name) {
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

Value Filter::apply(Runtime& rt, const Value& subject, const Args& args) const {
  const MadeFrom frame(rt, subject, args);
  return check_arguments(rt, name, takes_arguments, args) ? function(rt, subject, args) : Value();
}

bool Test::holds(Runtime& rt, const Value& subject, const Args& args) const {
  return check_arguments(rt, name, takes_arguments, args) && function(rt, subject, args);
}

const Filter* find_filter(std::string_view name) {
  static const auto table =
      table_of<Filter>({text_filters(), number_filters(), sequence_filters(), selection_filters()});
  return find_in(table, name);
}

const Test* find_test(std::string_view name) {
  static const auto table = table_of<Test>({all_tests()});
  return find_in(table, name);
}

const Function* find_function(std::string_view name) {
  static const auto table = table_of<Function>({all_functions()});
  return find_in(table, name);
}

MethodsOfName find_methods(std::string_view name) {
  static const auto strings = table_of<Method>({string_methods(), string_question_methods()});
  static const auto dicts = table_of<Method>({dict_methods()});
  static const auto lists = table_of<Method>({list_methods()});
  static const auto loops = table_of<Method>({loop_methods()});
  static const auto cyclers = table_of<Method>({cycler_methods()});
  return {find_in(strings, name), find_in(dicts, name), find_in(lists, name), find_in(loops, name),
          find_in(cyclers, name)};
}

const Method* method_for(const MethodsOfName& methods, const Value& object) {
  switch (object.kind) {
    case Kind::string:
      return methods.string;
    case Kind::dict:
      return methods.dict;
    case Kind::loop:
      return methods.loop;
    case Kind::cycler:
      return methods.cycler;
    case Kind::list: {
      if (object.list->flavor == Flavor::list) return methods.list;
      // Of a list's methods, a tuple has the two that ask.
      const bool asks = methods.list != nullptr &&
                        (methods.list->name == "index" || methods.list->name == "count");
      return asks && object.list->flavor <= Flavor::group ? methods.list : nullptr;
    }
    default:
      return nullptr;
  }
}

bool bind(Runtime& rt, std::string_view callee, const Args& args,
          std::span<const std::string_view> names, std::span<Value> values,
          std::size_t n_required) {
  const std::string who(callee);
  std::fill(values.begin(), values.end(), Value::absent());
  if (args.positional.size() > names.size()) {
    rt.fail(ErrorKind::type, who + ": " + std::to_string(args.positional.size()) +
                                 " arguments seen, at most " + std::to_string(names.size()) +
                                 " expected");
    return false;
  }
  std::copy(args.positional.begin(), args.positional.end(), values.begin());
  for (const NamedValue& argument : args.named) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(names, argument.name) - names.begin());
    if (at == names.size()) {
      rt.fail(ErrorKind::type,
              who + ": unknown argument '" + std::string(argument.name) + "' seen");
      return false;
    }
    if (!values[at].is_absent()) {
      rt.fail(ErrorKind::type,
              who + ": two values for argument '" + std::string(argument.name) + "' seen");
      return false;
    }
    values[at] = argument.value;
  }
  for (std::size_t i = 0; i < n_required; ++i) {
    if (!values[i].is_absent()) continue;
    rt.fail(ErrorKind::type, who + ": argument '" + std::string(names[i]) + "' expected");
    return false;
  }
  return true;
}

Value attribute_by_path(Runtime& rt, const Value& item, const Value& path, const Value& otherwise) {
  if (path.is_absent() || path.is_none()) return item;
  if (!path.is_string()) return rt.element(item, path);
  Value value = item;
  std::string_view rest = path.view();
  for (;;) {
    const std::size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    std::int64_t number = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_number = !part.empty() && parsed.ec == std::errc{} &&
                           parsed.ptr == part.data() + part.size() && part.front() != '-';
    value = rt.element(value, is_number ? Value::of(number) : Value::string(part));
    if (value.is_undefined() && !otherwise.is_absent() && !otherwise.is_none()) value = otherwise;
    if (dot == std::string_view::npos || rt.failed()) return value;
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace plumbline::templates::jinja
