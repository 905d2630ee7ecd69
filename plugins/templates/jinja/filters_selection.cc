// map, and the filters that choose items. Source: jinja2/filters.py.
// jinja2 walks lazily; here the items are made at once, which differs only in when an error shows.

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

/// jinja2 takes anything false, None too, for an empty sequence here.
std::span<const Value> items_unless_false(Runtime& rt, const Value& v) {
  if (v.is_undefined() || rt.truth(v)) return rt.items(v);
  return {};
}

/// What map was asked to do with each item.
Value map(Runtime& rt, const Value& v, const Args& args) {
  std::vector<Value> out;
  if (!args.positional.empty()) {
    const Value& name = args.positional[0];
    const Filter* filter = name.is_string() ? find_filter(name.view()) : nullptr;
    if (filter == nullptr) {
      return rt.fail(ErrorKind::type,
                     "map: no filter is named '" + std::string(rt.to_text(name).view()) + "'");
    }
    for (const Value& item : items_unless_false(rt, v)) {
      out.push_back(filter->apply(rt, item, args.without_first(1)));
      if (rt.failed()) return Value();
    }
    return rt.iterator(out);
  }
  const Bound arg(rt, "map", args, params("attribute", "default"), 1);
  if (!arg) return Value();
  for (const Value& item : items_unless_false(rt, v)) {
    out.push_back(attribute_by_path(rt, item, arg[0], arg[1]));
    if (rt.failed()) return Value();
  }
  return rt.iterator(out);
}

/// select and its relatives: keeps the items for which a test (by default: truth) is `wanted`.
template <bool wanted, bool by_attribute>
Value selected(Runtime& rt, const Value& v, const Args& args) {
  if (by_attribute && args.positional.empty()) {
    return rt.fail(ErrorKind::type, "selectattr or rejectattr: the name of an attribute expected");
  }
  const Value path = by_attribute ? args.positional[0] : Value::absent();
  const Args rest = args.without_first(by_attribute ? 1 : 0);
  const Test* test = nullptr;
  if (!rest.positional.empty()) {
    const Value& name = rest.positional[0];
    test = name.is_string() ? find_test(name.view()) : nullptr;
    if (test == nullptr) {
      return rt.fail(ErrorKind::type,
                     "select: no test is named '" + std::string(rt.to_text(name).view()) + "'");
    }
  }
  std::vector<Value> kept;
  for (const Value& item : items_unless_false(rt, v)) {
    const Value subject = attribute_by_path(rt, item, path, Value::absent());
    const bool holds =
        test == nullptr ? rt.truth(subject) : test->holds(rt, subject, rest.without_first(1));
    if (rt.failed()) return Value();
    if (holds == wanted) kept.push_back(item);
  }
  return rt.iterator(kept);
}

constexpr auto select = selected<true, false>;
constexpr auto reject = selected<false, false>;
constexpr auto select_attribute = selected<true, true>;
constexpr auto reject_attribute = selected<false, true>;

constexpr Filter kSelectionFilters[] = {
    {"map", map},
    {"select", select},
    {"reject", reject},
    {"selectattr", select_attribute},
    {"rejectattr", reject_attribute},
};

}  // namespace

std::span<const Filter> selection_filters() {
  return kSelectionFilters;
}

}  // namespace plumbline::templates::jinja
