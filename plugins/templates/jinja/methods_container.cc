// The methods of Python's dict and list. Those that would change the container are there, so that a
// key of that name is hidden as in Python, and the immutable sandbox forbids calling them.

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

template <Flavor flavor>
Value view(Runtime& rt, const Value& self, const Args& args) {
  const Bound none(rt, "items, keys or values", args, params(), 0);
  if (!none) return Value();
  std::vector<Value> out;
  out.reserve(self.dict->entries.size());
  for (const Entry& entry : self.dict->entries) {
    switch (flavor) {
      case Flavor::dict_keys:
        out.push_back(entry.key);
        break;
      case Flavor::dict_values:
        out.push_back(entry.value);
        break;
      default:
        out.push_back(rt.tuple({entry.key, entry.value}));
    }
  }
  return rt.list(out, flavor);
}

Value get(Runtime& rt, const Value& self, const Args& args) {
  if (!args.named.empty())
    return rt.fail(ErrorKind::type, "get: named arguments seen, none expected");
  const Bound arg(rt, "get", args, params("key", "default"), 1);
  if (!arg) return Value();
  if (!is_hashable(arg[0])) {
    return rt.fail(ErrorKind::type,
                   "'" + std::string(type_name(arg[0])) + "' cannot be a dict key");
  }
  if (const Value* found = find(rt, *self.dict, arg[0])) return *found;
  return arg.has(1) ? arg[1] : Value::none();
}

Value copy(Runtime&, const Value& self, const Args&) {
  return self;
}  // nothing can change the original

Value index(Runtime& rt, const Value& self, const Args& args) {
  const Bound arg(rt, "index", args, params("value"), 1);
  if (!arg) return Value();
  std::int64_t i = 0;
  for (const Value& item : self.list->items) {
    if (equal(rt, item, arg[0])) return Value::of(i);
    ++i;
  }
  return rt.fail(ErrorKind::type, "index: value not found");
}

Value count(Runtime& rt, const Value& self, const Args& args) {
  const Bound arg(rt, "count", args, params("value"), 1);
  if (!arg) return Value();
  std::int64_t n = 0;
  for (const Value& item : self.list->items) n += equal(rt, item, arg[0]);
  return Value::of(n);
}

Value forbidden(Runtime& rt, const Value& self, const Args&) {
  return rt.fail(ErrorKind::security, "call of a method that changes a '" +
                                          std::string(type_name(self)) +
                                          "' seen: templates may not change values");
}

constexpr Method kDictMethods[] = {
    {"items", view<Flavor::dict_items>},
    {"keys", view<Flavor::dict_keys>},
    {"values", view<Flavor::dict_values>},
    {"get", get},
    {"copy", copy},
    {"fromkeys", forbidden},
    {"clear", forbidden},
    {"pop", forbidden},
    {"popitem", forbidden},
    {"setdefault", forbidden},
    {"update", forbidden},
};

constexpr Method kListMethods[] = {
    {"index", index},      {"count", count},       {"copy", copy},      {"append", forbidden},
    {"extend", forbidden}, {"insert", forbidden},  {"pop", forbidden},  {"remove", forbidden},
    {"clear", forbidden},  {"reverse", forbidden}, {"sort", forbidden},
};

}  // namespace

std::span<const Method> dict_methods() {
  return kDictMethods;
}
std::span<const Method> list_methods() {
  return kListMethods;
}

}  // namespace plumbline::templates::jinja
