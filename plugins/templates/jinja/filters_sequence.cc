// Filters on sequences and mappings. Source: jinja2/filters.py.

#include <algorithm>

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

Value default_value(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "default", args, params("default_value", "boolean"), 0);
  if (!arg) return Value();
  const bool replaces = v.is_undefined() || (arg.flag(1, false) && !rt.truth(v));
  if (!replaces) return v;
  return arg.has(0) ? arg[0] : Value::string("", true);
}

Value length(Runtime& rt, const Value& v, const Args&) {
  const auto n = rt.length(v);
  return n ? Value::of(*n) : Value();
}

Value list(Runtime& rt, const Value& v, const Args&) {
  return rt.list(rt.items(v));
}

Value first(Runtime& rt, const Value& v, const Args&) {
  if (v.kind == Kind::iterator) {
    Iterator& it = *v.iterator;
    if (it.next_at < it.items.size()) return it.items[it.next_at++];
    return Value::undefined(Missing::element, "first item of an empty sequence");
  }
  const auto items = rt.items(v);
  return items.empty() ? Value::undefined(Missing::element, "first item of an empty sequence")
                       : items.front();
}

Value last(Runtime& rt, const Value& v, const Args&) {
  if (v.kind == Kind::iterator)
    return rt.fail(ErrorKind::type, "last: 'generator' seen, a sequence expected");
  const auto items = rt.items(v);
  return items.empty()   ? Value::undefined(Missing::element, "last item of an empty sequence")
         : v.is_string() ? items.back().as_kind_of(v)
                         : items.back();
}

Value reverse(Runtime& rt, const Value& v, const Args&) {
  const auto items = rt.items(v);
  if (v.is_string()) {
    Text out(rt);
    for (std::size_t i = items.size(); i > 0; --i) out.add(items[i - 1].view());
    return out.value().as_kind_of(v);
  }
  return rt.iterator(std::vector<Value>(items.rbegin(), items.rend()));
}

Value join(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "join", args, params("d", "attribute"), 0);
  if (!arg) return Value();
  const Value separator = arg.has(0) ? rt.to_text(arg[0]) : Value::string("", true);
  Text out(rt);
  bool is_first = true;
  for (const Value& item : rt.items(v)) {
    const Value part = rt.to_text(attribute_by_path(rt, item, arg[1], Value::absent()));
    if (!is_first && !out.add(separator.view())) return Value();
    is_first = false;
    if (!out.add(part.view())) return Value();
  }
  return out.value();
}

Value items(Runtime& rt, const Value& v, const Args&) {
  std::vector<Value> pairs;
  if (v.is_undefined()) {
    rt.items(v);
    return rt.iterator(pairs);
  }
  if (v.kind != Kind::dict) {
    return rt.fail(ErrorKind::type,
                   "items: '" + std::string(type_name(v)) + "' seen, a mapping expected");
  }
  for (const Entry& entry : v.dict->entries) pairs.push_back(rt.tuple({entry.key, entry.value}));
  return rt.iterator(pairs);
}

Value attribute(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "attr", args, params("name"), 1);
  if (!arg) return Value();
  const Value name = rt.to_text(arg[0]);
  if (v.kind == Kind::dict) {  // unlike a dot, this never looks at a dict's keys
    const Method* method = find_method(v, name.view());
    if (method == nullptr) return Value::undefined(Missing::attribute, name.view(), Kind::dict);
    return rt.attribute(v, name.view(), method);
  }
  return rt.attribute(v, name.view());
}

Value sum(Runtime& rt, const Value& v, const Args& args) {
  const Bound arg(rt, "sum", args, params("attribute", "start"), 0);
  if (!arg) return Value();
  Value total = arg.has(1) ? arg[1] : Value::of(std::int64_t{0});
  if (total.is_string())
    return rt.fail(ErrorKind::type, "sum: a string seen, numbers or lists expected");
  for (const Value& item : rt.items(v)) {
    total = add(rt, total, attribute_by_path(rt, item, arg[0], Value::absent()));
    if (rt.failed()) return Value();
  }
  return total;
}

// Ordering --------------------------------------------------------------------------------------

struct Keyed {
  Value key;
  Value item;
};

Value without_case(Runtime& rt, const Value& v) {
  return v.is_string() && rt.spend_bytes(2 * std::uint64_t{v.n_bytes})
             ? rt.string(text::lower(v.view()))
             : v;
}

/// What items are ordered by: their attribute, strings without case unless asked for.
std::vector<Keyed> keyed(Runtime& rt, std::span<const Value> items, const Value& path,
                         bool case_sensitive, const Value& otherwise = Value::absent()) {
  std::vector<Keyed> out;
  out.reserve(items.size());
  for (const Value& item : items) {
    Value key = attribute_by_path(rt, item, path, otherwise);
    out.push_back({case_sensitive ? key : without_case(rt, key), item});
    if (rt.failed()) break;
  }
  return out;
}

void stable_sort(Runtime& rt, std::vector<Keyed>& items, bool descending) {
  // After an error nothing is less than anything, and the sort ends quickly.
  std::stable_sort(items.begin(), items.end(), [&](const Keyed& a, const Keyed& b) {
    if (rt.failed()) return false;
    return descending ? compare(rt, b.key, a.key, "<") == Order::less
                      : compare(rt, a.key, b.key, "<") == Order::less;
  });
}

Value values_of(Runtime& rt, const std::vector<Keyed>& items) {
  std::vector<Value> out;
  out.reserve(items.size());
  for (const Keyed& k : items) out.push_back(k.item);
  return rt.list(out);
}

Value sort(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "sort", args, params("reverse", "case_sensitive", "attribute"), 0);
  if (!arg) return Value();
  const bool descending = arg.flag(0, false);
  const bool case_sensitive = arg.flag(1, false);
  const auto all = rt.items(v);
  if (!arg.has(2) || !arg[2].is_string() || arg[2].view().find(',') == std::string_view::npos) {
    auto items = keyed(rt, all, arg[2], case_sensitive);
    stable_sort(rt, items, descending);
    return values_of(rt, items);
  }
  // "a,b": by a, then by b; a tuple orders just so.
  std::vector<Keyed> items;
  for (const Value& item : all) {
    std::vector<Value> keys;
    for (std::string_view rest = arg[2].view(); !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const Value key =
          attribute_by_path(rt, item, Value::string(rest.substr(0, comma)), Value::absent());
      keys.push_back(case_sensitive ? key : without_case(rt, key));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    items.push_back({rt.list(keys, Flavor::tuple), item});
    if (rt.failed()) return Value();
  }
  stable_sort(rt, items, descending);
  return values_of(rt, items);
}

Value dict_sort(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "dictsort", args, params("case_sensitive", "by", "reverse"), 0);
  if (!arg) return Value();
  const std::string_view by = arg.string(1, "key");
  if (by != "key" && by != "value") {
    return rt.fail(ErrorKind::type,
                   "dictsort: by '" + std::string(by) + "' seen, 'key' or 'value' expected");
  }
  if (v.kind != Kind::dict) {
    if (v.is_undefined()) return rt.fail_undefined(v);
    return rt.fail(ErrorKind::type,
                   "dictsort: '" + std::string(type_name(v)) + "' seen, a mapping expected");
  }
  std::vector<Value> pairs;
  for (const Entry& entry : v.dict->entries) pairs.push_back(rt.tuple({entry.key, entry.value}));
  auto items = keyed(rt, pairs, Value::of(std::int64_t{by == "key" ? 0 : 1}), arg.flag(0, false));
  stable_sort(rt, items, arg.flag(2, false));
  return values_of(rt, items);
}

Value unique(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "unique", args, params("case_sensitive", "attribute"), 0);
  if (!arg) return Value();
  std::vector<Value> kept;
  DictBuilder seen(rt);
  for (const Keyed& k : keyed(rt, rt.items(v), arg[1], arg.flag(0, false))) {
    if (rt.failed()) return Value();
    const bool is_new = !is_hashable(k.key) || find(rt, *seen.dict(), k.key) == nullptr;
    seen.set(k.key, Value::none());
    if (is_new) kept.push_back(k.item);
  }
  return rt.iterator(kept);
}

Value extreme(Runtime& rt, const Value& v, const Args& args, std::string_view who, Order wanted) {
  Bound arg(rt, who, args, params("case_sensitive", "attribute"), 0);
  if (!arg) return Value();
  const auto items = keyed(rt, rt.items(v), arg[1], arg.flag(0, false));
  if (items.empty()) return Value::undefined(Missing::element, "aggregate of an empty sequence");
  const Keyed* best = &items.front();
  for (const Keyed& k : items) {
    if (&k != best && compare(rt, k.key, best->key, wanted == Order::less ? "<" : ">") == wanted)
      best = &k;
  }
  return best->item;
}

Value min(Runtime& rt, const Value& v, const Args& args) {
  return extreme(rt, v, args, "min", Order::less);
}
Value max(Runtime& rt, const Value& v, const Args& args) {
  return extreme(rt, v, args, "max", Order::greater);
}

Value group_by(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "groupby", args, params("attribute", "default", "case_sensitive"), 1);
  if (!arg) return Value();
  auto items = keyed(rt, rt.items(v), arg[0], arg.flag(2, false), arg[1]);
  stable_sort(rt, items, false);
  std::vector<Value> groups;
  for (std::size_t from = 0; from < items.size() && !rt.failed();) {
    std::size_t end = from;
    std::vector<Value> members;
    while (end < items.size() && equal(rt, items[end].key, items[from].key))
      members.push_back(items[end++].item);
    if (end == from) break;  // an error, or a key that does not even equal itself
    const Value key = attribute_by_path(rt, members.front(), arg[0], arg[1]);
    const Value pair[] = {key, rt.list(members)};
    groups.push_back(rt.list(pair, Flavor::group));
    from = end;
  }
  return rt.list(groups);
}

// Splitting -------------------------------------------------------------------------------------

Value batch(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "batch", args, params("linecount", "fill_with"), 1);
  if (!arg) return Value();
  const std::int64_t n = arg.integer(0, 1);
  if (n < 1)
    return rt.fail(ErrorKind::type,
                   "batch: linecount " + std::to_string(n) + " seen, at least 1 expected");
  const auto all = rt.items(v);
  const auto n_line = static_cast<std::size_t>(n);
  std::vector<Value> lines;
  for (std::size_t at = 0; at < all.size() && !rt.failed(); at += n_line) {
    const auto part = all.subspan(at, std::min(n_line, all.size() - at));
    std::vector<Value> line(part.begin(), part.end());
    if (arg.has(1) && !arg[1].is_none() && line.size() < n_line) {
      if (!rt.spend(n_line) || !rt.fits(n_line * sizeof(Value))) return Value();
      line.resize(n_line, arg[1]);
    }
    lines.push_back(rt.list(line));
    if (n_line >= all.size()) break;
  }
  return rt.iterator(lines);
}

Value slice(Runtime& rt, const Value& v, const Args& args) {
  Bound arg(rt, "slice", args, params("slices", "fill_with"), 1);
  if (!arg) return Value();
  const std::int64_t n = arg.integer(0, 1);
  const auto all = rt.items(v);
  if (n == 0) return rt.fail(ErrorKind::type, "slice: 0 slices seen, at least 1 expected");
  if (n < 0) return rt.iterator({});
  const auto n_slices = static_cast<std::size_t>(n);
  std::vector<Value> slices;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n_slices && rt.spend(1); ++i) {
    const bool longer = i < all.size() % n_slices;
    const std::size_t n_items = all.size() / n_slices + (longer ? 1 : 0);
    std::vector<Value> part(all.begin() + static_cast<std::ptrdiff_t>(at),
                            all.begin() + static_cast<std::ptrdiff_t>(at + n_items));
    if (arg.has(1) && !arg[1].is_none() && !longer) part.push_back(arg[1]);
    slices.push_back(rt.list(part));
    at += n_items;
  }
  return rt.iterator(slices);
}

constexpr Filter kSequenceFilters[] = {
    {"default", default_value},
    {"d", default_value},
    {"length", length, kNoArguments},
    {"count", length, kNoArguments},
    {"list", list, kNoArguments},
    {"first", first, kNoArguments},
    {"last", last, kNoArguments},
    {"reverse", reverse, kNoArguments},
    {"join", join},
    {"items", items, kNoArguments},
    {"attr", attribute},
    {"sum", sum},
    {"sort", sort},
    {"unique", unique},
    {"dictsort", dict_sort},
    {"min", min},
    {"max", max},
    {"groupby", group_by},
    {"batch", batch},
    {"slice", slice},
};

}  // namespace

std::span<const Filter> sequence_filters() {
  return kSequenceFilters;
}

}  // namespace plumbline::templates::jinja
