// Attributes, elements and slices: Runtime's lookups, by the rules of jinja2's sandboxed getattr
// and getitem.

#include <algorithm>

#include "ast.h"
#include "builtins.h"
#include "runtime.h"

namespace plumbline::templates::jinja {
namespace {

Value missing_attribute(const Value& object, std::string_view name) {
  return Value::undefined(Missing::attribute, name, object.kind);
}

/// Element number `i` of n, Python's way: negative counts from the end. False when outside.
bool wrap_index(std::int64_t& i, std::int64_t n) {
  if (i < 0) i += n;
  return i >= 0 && i < n;
}

struct Bounds {
  std::int64_t start;
  std::int64_t step;
  std::int64_t n;
};

/// Clamps slice bounds to a sequence of n elements. Source: CPython, PySlice_AdjustIndices.
Bounds adjust(const Value& start, const Value& stop, std::int64_t step, std::int64_t n) {
  const auto clamp = [&](const Value& bound, std::int64_t otherwise) {
    if (bound.is_none()) return otherwise;
    std::int64_t i = bound.as_integer();
    if (i < 0) i = i < -n ? -1 : i + n;
    if (i < 0) return step < 0 ? std::int64_t{-1} : std::int64_t{0};
    return std::min(i, step < 0 ? n - 1 : n);
  };
  const std::int64_t from = clamp(start, step < 0 ? n - 1 : 0);
  const std::int64_t to = clamp(stop, step < 0 ? -1 : n);
  std::int64_t count = 0;
  if (step > 0 && from < to) count = (to - from - 1) / step + 1;
  if (step < 0 && to < from) count = (from - to - 1) / -step + 1;
  return {from, step, count};
}

Value slice_string(Runtime& rt, const Value& s, const Bounds& b) {
  if (b.n == 0) return Value::string("", true);
  if (!rt.spend_bytes(s.n_bytes)) return Value::string("", true);
  if (b.step == 1) {
    const std::string_view all = s.view();
    const auto start = static_cast<std::size_t>(b.start);
    const auto n = static_cast<std::size_t>(b.n);
    if (s.is_ascii()) return Runtime::part_of(s, all.substr(start, n));
    const std::string_view tail = all.substr(text::offset_of_point(all, start));
    return Runtime::part_of(s, tail.substr(0, text::offset_of_point(tail, n)));
  }
  const auto points = rt.items(s);
  Text out(rt);
  for (std::int64_t i = 0, at = b.start; i < b.n && !points.empty(); ++i, at += b.step) {
    out.add(points[static_cast<std::size_t>(at)].view());
  }
  return out.value().as_kind_of(s);
}

Value slice_list(Runtime& rt, const List& list, const Bounds& b) {
  const Flavor flavor = list.flavor == Flavor::list ? Flavor::list : Flavor::tuple;
  if (b.step == 1) {
    return rt.list(list.items.subspan(static_cast<std::size_t>(b.n == 0 ? 0 : b.start),
                                      static_cast<std::size_t>(b.n)),
                   flavor);
  }
  std::vector<Value> out;
  for (std::int64_t i = 0, at = b.start; i < b.n; ++i, at += b.step) {
    out.push_back(list.items[static_cast<std::size_t>(at)]);
  }
  return rt.list(out, flavor);
}

}  // namespace

Value Runtime::attribute(const Value& object, std::string_view name, const Method* method) {
  if (method != nullptr) {
    Value v(Kind::method);
    v.method = objects_.make<BoundMethod>(object, method);
    return v;
  }
  switch (object.kind) {
    case Kind::dict:
      if (const Value* found = find(*this, *object.dict, name)) return *found;
      break;
    case Kind::name_space:
      if (const Value* found = find(*this, *object.space, name)) return *found;
      break;
    case Kind::loop:
      return loop_attribute(*object.loop, name);
    case Kind::macro:
      return macro_attribute(*object.macro, name);
    case Kind::cycler:
      if (name == "current") return object.cycler->items[object.cycler->at];
      if (name == "pos") return Value::of(static_cast<std::int64_t>(object.cycler->at));
      if (name == "items") return list(object.cycler->items, Flavor::tuple);
      break;
    case Kind::joiner:
      if (name == "sep") return object.joiner->separator;
      if (name == "used") return Value::of(object.joiner->is_used);
      break;
    case Kind::list:
      if (object.list->flavor == Flavor::group) {
        if (name == "grouper") return object.list->items[0];
        if (name == "list") return object.list->items[1];
      }
      break;
    case Kind::undefined:
      return fail_undefined(object);
    default:
      break;
  }
  return missing_attribute(object, name);
}

Value Runtime::attribute(const Value& object, std::string_view name) {
  return attribute(object, name, find_method(object, name));
}

Value Runtime::element(const Value& object, const Value& key) {
  if (key.is_undefined() && profile_ != UndefinedProfile::hf) return fail_undefined(key);
  switch (object.kind) {
    case Kind::undefined:
      return fail_undefined(object);
    case Kind::dict:
      if (const Value* found = find(*this, *object.dict, key)) return *found;
      break;
    case Kind::list:
      if (key.is_integral() && object.list->flavor <= Flavor::group) {
        std::int64_t i = key.as_integer();
        const auto items = object.list->items;
        if (wrap_index(i, static_cast<std::int64_t>(items.size())))
          return items[static_cast<std::size_t>(i)];
      }
      break;
    case Kind::range:
      if (key.is_integral()) {
        std::int64_t i = key.as_integer();
        if (wrap_index(i, object.range->n))
          return Value::of(object.range->start + i * object.range->step);
      }
      break;
    case Kind::string:
      if (key.is_integral()) {
        std::int64_t i = key.as_integer();
        const std::int64_t n = object.is_ascii() ? object.n_bytes : length(object).value_or(0);
        if (wrap_index(i, n)) {
          if (object.is_ascii()) {
            return part_of(object, object.view().substr(static_cast<std::size_t>(i), 1));
          }
          return slice_string(*this, object, {i, 1, 1});
        }
      }
      break;
    default:
      break;
  }
  if (!key.is_string()) return missing_attribute(object, to_text(key).view());
  const Method* method = find_method(object, key.view());
  if (method == nullptr && object.kind == Kind::dict) return missing_attribute(object, key.view());
  return attribute(object, key.view(), method);
}

Value Runtime::slice(const Value& object, const Value& start, const Value& stop,
                     const Value& step) {
  if (object.is_undefined()) return fail_undefined(object);
  for (const Value* bound : {&start, &stop, &step}) {
    if (bound->is_none() || bound->is_integral()) continue;
    if (bound->is_undefined()) return fail_undefined(*bound);
    return fail(ErrorKind::type, "slice bound of type '" + std::string(type_name(*bound)) +
                                     "' seen, an integer expected");
  }
  // No sequence is long enough to tell larger steps apart, and no sum of these overflows.
  constexpr std::int64_t kLongestStep = std::int64_t{1} << 40;
  const std::int64_t by =
      step.is_none() ? 1 : std::clamp(step.as_integer(), -kLongestStep, kLongestStep);
  if (by == 0) return fail(ErrorKind::type, "slice step 0 seen, a step other than 0 expected");
  switch (object.kind) {
    case Kind::string:
      return slice_string(*this, object, adjust(start, stop, by, length(object).value_or(0)));
    case Kind::list:
      if (object.list->flavor > Flavor::group) break;
      return slice_list(
          *this, *object.list,
          adjust(start, stop, by, static_cast<std::int64_t>(object.list->items.size())));
    case Kind::range: {
      const Range& range = *object.range;
      const Bounds b = adjust(start, stop, by, range.n);
      if (b.n == 0) return this->range(0, 0, 1);
      const std::int64_t first = range.start + b.start * range.step;
      std::int64_t stride = 0;
      if (b.n == 1 || __builtin_mul_overflow(b.step, range.step, &stride)) stride = range.step;
      const std::int64_t last = first + (b.n - 1) * stride;
      return this->range(first, last + (stride > 0 ? 1 : -1), stride);
    }
    default:
      break;
  }
  return fail(ErrorKind::type,
              "slice of '" + std::string(type_name(object)) + "' seen, a sequence expected");
}

Value Runtime::loop_attribute(const Loop& loop, std::string_view name) {
  const auto at = static_cast<std::int64_t>(loop.at);
  const auto n = static_cast<std::int64_t>(loop.items.size());
  if (name == "index") return Value::of(at + 1);
  if (name == "index0") return Value::of(at);
  if (name == "first") return Value::of(at == 0);
  if (name == "last") return Value::of(at + 1 == n);
  if (name == "length") return Value::of(n);
  if (name == "revindex") return Value::of(n - at);
  if (name == "revindex0") return Value::of(n - at - 1);
  if (name == "depth") return Value::of(loop.depth);
  if (name == "depth0") return Value::of(loop.depth - 1);
  if (name == "previtem") {
    return at > 0 ? loop.items[loop.at - 1]
                  : Value::undefined(Missing::element, "there is no previous item");
  }
  if (name == "nextitem") {
    return at + 1 < n ? loop.items[loop.at + 1]
                      : Value::undefined(Missing::element, "there is no next item");
  }
  return Value::undefined(Missing::attribute, name, Kind::loop);
}

Value Runtime::macro_attribute(const Macro& macro, std::string_view name) {
  if (name == "name")
    return macro.node->name.empty() ? Value::none() : Value::string(macro.node->name);
  if (name == "arguments") {
    std::vector<Value> names;
    for (const Parameter& p : macro.node->parameters) names.push_back(Value::string(p.name));
    return list(names, Flavor::tuple);
  }
  if (name == "catch_kwargs") return Value::of(macro.node->uses_kwargs);
  if (name == "catch_varargs") return Value::of(macro.node->uses_varargs);
  if (name == "caller") return Value::of(macro.node->uses_caller);
  return Value::undefined(Missing::attribute, name, Kind::macro);
}

}  // namespace plumbline::templates::jinja
