// Global functions. Source: jinja2/defaults.py, jinja2/sandbox.py, and what transformers adds.

#include "builtins.h"

namespace plumbline::templates::jinja {
namespace {

Value make_range(Runtime& rt, const Args& args) {
  Bound arg(rt, "range", args, params("start", "stop", "step"), 1);
  if (!arg || !args.named.empty())
    return rt.fail(ErrorKind::type, "range: named arguments seen, none expected");
  const bool one = !arg.has(1);
  const std::int64_t start = one ? 0 : arg.integer(0, 0);
  const std::int64_t stop = arg.integer(one ? 0 : 1, 0);
  const std::int64_t step = arg.integer(2, 1);
  if (rt.failed()) return Value();
  if (step == 0)
    return rt.fail(ErrorKind::type, "range: step 0 seen, a step other than 0 expected");
  return rt.range(start, stop, step);
}

/// Copies a mapping, or a sequence of pairs, and then the named arguments, as dict() does.
void fill(Runtime& rt, DictBuilder& dict, const Args& args, std::string_view who) {
  if (args.positional.size() > 1) {
    rt.fail(ErrorKind::type, std::string(who) + ": " + std::to_string(args.positional.size()) +
                                 " arguments seen, at most 1 expected");
    return;
  }
  if (args.positional.size() == 1) {
    const Value& from = args.positional[0];
    if (from.kind == Kind::dict) {
      for (const Entry& entry : from.dict->entries) dict.set(entry.key, entry.value);
    } else {
      for (const Value& item : rt.items(from)) {
        const auto pair = rt.items(item);
        if (pair.size() != 2) {
          rt.fail(ErrorKind::type, std::string(who) + ": pairs of a key and a value expected");
          return;
        }
        dict.set(pair[0], pair[1]);
      }
    }
  }
  for (const NamedValue& argument : args.named)
    dict.set(Value::string(argument.name), argument.value);
}

Value make_dict(Runtime& rt, const Args& args) {
  DictBuilder dict(rt);
  fill(rt, dict, args, "dict");
  return dict.value();
}

}  // namespace

bool check_namespace_name(Runtime& rt, std::string_view name) {
  if (!name.starts_with('_')) return true;
  rt.fail(ErrorKind::security, "namespace attribute '" + std::string(name) +
                                   "' seen, a name without '_' at its beginning expected");
  return false;
}

namespace {

Value make_namespace(Runtime& rt, const Args& args) {
  DictBuilder dict(rt);
  fill(rt, dict, args, "namespace");
  for (const Entry& entry : dict.dict()->entries) {
    if (entry.key.is_string()) check_namespace_name(rt, entry.key.view());
  }
  Value v(Kind::name_space);
  v.space = dict.dict();
  return v;
}

Value raise_exception(Runtime& rt, const Args& args) {
  const Bound arg(rt, "raise_exception", args, params("message"), 1);
  if (!arg) return Value();
  const Value message = rt.to_text(arg[0]);
  return rt.fail(ErrorKind::raised, std::string(message.view()));
}

Value strftime_now(Runtime& rt, const Args& args) {
  Bound arg(rt, "strftime_now", args, params("format"), 1);
  if (!arg) return Value();
  const std::string_view format = arg.string(0, "");
  if (rt.failed()) return Value();
  if (!rt.now_unix_s()) return rt.fail(ErrorKind::type, "strftime_now: the host gave no clock");
  return format_time(rt, *rt.now_unix_s(), format);
}

Value make_cycler(Runtime& rt, const Args& args) {
  if (args.positional.empty() || !args.named.empty())
    return rt.fail(ErrorKind::type, "cycler: one or more values expected");
  Value v(Kind::cycler);
  v.cycler = rt.objects().make<Cycler>(args.positional, std::size_t{0});
  return v;
}

Value make_joiner(Runtime& rt, const Args& args) {
  const Bound arg(rt, "joiner", args, params("sep"), 0);
  if (!arg) return Value();
  Value v(Kind::joiner);
  v.joiner = rt.objects().make<Joiner>(arg.has(0) ? arg[0] : Value::string(", ", true), false);
  return v;
}

constexpr Function kFunctions[] = {
    {"range", make_range},          {"dict", make_dict},
    {"namespace", make_namespace},  {"raise_exception", raise_exception},
    {"strftime_now", strftime_now}, {"cycler", make_cycler},
    {"joiner", make_joiner},
};

// Methods of the loop variable and of cyclers
// --------------------------------------------------------------------

Value loop_cycle(Runtime& rt, const Value& self, const Args& args) {
  if (args.positional.empty() || !args.named.empty()) {
    return rt.fail(ErrorKind::type, "loop.cycle: one or more values expected");
  }
  return args.positional[self.loop->at % args.positional.size()];
}

Value loop_changed(Runtime& rt, const Value& self, const Args& args) {
  const Value now = rt.list(args.positional, Flavor::tuple);
  const bool changed =
      self.loop->last_changed == nullptr || !equal(rt, *self.loop->last_changed, now);
  self.loop->last_changed = rt.objects().make<Value>(now);
  return Value::of(changed);
}

Value cycler_next(Runtime& rt, const Value& self, const Args& args) {
  const Bound none(rt, "next", args, params(), 0);
  Cycler& cycler = *self.cycler;
  const Value current = cycler.items[cycler.at];
  cycler.at = (cycler.at + 1) % cycler.items.size();
  return current;
}

Value cycler_reset(Runtime& rt, const Value& self, const Args& args) {
  const Bound none(rt, "reset", args, params(), 0);
  self.cycler->at = 0;
  return Value::none();
}

constexpr Method kCyclerMethods[] = {{"next", cycler_next}, {"reset", cycler_reset}};
constexpr Method kLoopMethods[] = {{"cycle", loop_cycle}, {"changed", loop_changed}};

}  // namespace

std::span<const Function> all_functions() {
  return kFunctions;
}
std::span<const Method> cycler_methods() {
  return kCyclerMethods;
}
std::span<const Method> loop_methods() {
  return kLoopMethods;
}

}  // namespace plumbline::templates::jinja
