#include "provenance.h"

#include <algorithm>
#include <charconv>

#include "builtins.h"
#include "context.h"
#include "runtime.h"

namespace plumbline::templates::jinja {

// Marks -----------------------------------------------------------------------------------------

void Marks::add(std::string_view text) {
  if (text.empty()) return;
  const char* begin = text.data();
  const char* end = begin + text.size();
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin() && begin <= std::prev(next)->second) {
    --next;
    begin = next->first;
  }
  while (next != ends_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, begin, end);
}

// Text ------------------------------------------------------------------------------------------

bool Text::add(std::string_view s) {
  if (!rt_.spend_bytes(s.size()) || !rt_.charge(s.size())) return false;
  if (const Marks* marks = rt_.marks()) {
    const std::size_t at = bytes_.size();
    marks->each(s, [&](std::size_t from, std::size_t n) { mark(at + from, at + from + n); });
  }
  bytes_ += s;
  return true;
}

void Text::mark(std::size_t begin, std::size_t end) {
  if (begin == end) return;
  if (!untrusted_.empty() && untrusted_.back().end == begin) {
    untrusted_.back().end = end;
    return;
  }
  if (rt_.charge(sizeof(plumb_span))) untrusted_.push_back({begin, end});
}

Value Text::value() const {
  const Value made = rt_.template_string(bytes_);
  if (made.n_bytes == bytes_.size()) {
    for (const plumb_span& span : untrusted_)
      rt_.mark(made.view().substr(span.begin, span.end - span.begin));
  }
  return made;
}

// Calls -----------------------------------------------------------------------------------------

namespace {

/// Does `value` hold a marked byte? What is too deep to follow counts as a stranger's.
bool holds_untrusted(Runtime& rt, const Value& value, int depth = 0) {
  if (!rt.spend(1) || depth > 2 * kMaxDataDepth) return true;
  const auto any = [&](const Value& v) { return holds_untrusted(rt, v, depth + 1); };
  const auto any_entry = [&](const Dict& dict) {
    return std::ranges::any_of(dict.entries,
                               [&](const Entry& e) { return any(e.key) || any(e.value); });
  };
  switch (value.kind) {
    case Kind::string:
      return rt.marks()->any(value.view());
    case Kind::list:
      return std::ranges::any_of(value.list->items, any);
    case Kind::iterator:
      return std::ranges::any_of(value.iterator->items, any);
    case Kind::loop:
      return std::ranges::any_of(value.loop->items, any);
    case Kind::dict:
      return any_entry(*value.dict);
    case Kind::name_space:
      return any_entry(*value.space);
    case Kind::cycler:
      return std::ranges::any_of(value.cycler->items, any);
    case Kind::joiner:
      return any(value.joiner->separator);
    case Kind::method:
      return any(value.method->self);
    default:
      return false;
  }
}

}  // namespace

MadeFrom::MadeFrom(Runtime& rt, const Value& subject, const Args& args)
    : rt_(rt), subject_(subject), args_(args), outer_(rt.made_from()) {
  rt_.set_made_from(this);
}

MadeFrom::~MadeFrom() {
  rt_.set_made_from(outer_);
}

bool MadeFrom::untrusted() {
  if (known_ == Known::not_yet) {
    const auto holds = [&](const Value& v) { return holds_untrusted(rt_, v); };
    const bool found = holds(subject_) || std::ranges::any_of(args_.positional, holds) ||
                       std::ranges::any_of(args_.named, [&](const NamedValue& argument) {
                         return rt_.marks()->any(argument.name) || holds(argument.value);
                       });
    known_ = found ? Known::yes : Known::no;
  }
  return known_ == Known::yes;
}

// The context -----------------------------------------------------------------------------------

namespace {

/// Recursion is bounded: the depth of the context is.
void mark_below(Runtime& rt, const Value& value) {
  if (!rt.spend(1)) return;
  if (value.is_string()) rt.mark(value.view());
  if (value.kind == Kind::list) {
    for (const Value& item : value.list->items) mark_below(rt, item);
  }
  if (value.kind == Kind::dict) {
    for (const Entry& entry : value.dict->entries) {
      rt.mark(entry.key.view());
      mark_below(rt, entry.value);
    }
  }
}

/// A step of a pointer with ~1 and ~0 resolved; nothing when another ~ stands in it.
std::optional<std::string> unescaped(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~') {
      out += step[i];
      continue;
    }
    if (++i == step.size() || (step[i] != '0' && step[i] != '1')) return std::nullopt;
    out += step[i] == '0' ? '~' : '/';
  }
  return out;
}

const Value* child(Runtime& rt, const Value& parent, std::string_view step) {
  if (parent.kind == Kind::dict) {
    const auto key = unescaped(step);
    return key ? find(rt, *parent.dict, *key) : nullptr;
  }
  if (parent.kind != Kind::list || step.empty() || (step.size() > 1 && step.front() == '0'))
    return nullptr;
  std::uint64_t i = 0;
  const auto parsed = std::from_chars(step.data(), step.data() + step.size(), i);
  const bool is_number = parsed.ec == std::errc{} && parsed.ptr == step.data() + step.size();
  return is_number && i < parent.list->items.size() ? &parent.list->items[i] : nullptr;
}

const Value* resolve(Runtime& rt, const Value& context, std::string_view pointer) {
  if (!pointer.empty() && pointer.front() != '/') return nullptr;
  const Value* at = &context;
  while (!pointer.empty() && at != nullptr) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    at = child(rt, *at, pointer.substr(0, end));
    pointer.remove_prefix(end);
  }
  return at;
}

}  // namespace

void mark_context(Runtime& rt, const Value& context, std::string_view pointers_json) {
  if (pointers_json.empty()) return;
  const Value pointers = read_json(rt, pointers_json, "untrusted");
  if (rt.failed()) return;
  if (pointers.kind != Kind::list) {
    rt.fail(ErrorKind::context, "untrusted: '" + std::string(type_name(pointers)) +
                                    "' seen, an array of JSON pointers expected");
    return;
  }
  for (const Value& pointer : pointers.list->items) {
    const Value* found = pointer.is_string() ? resolve(rt, context, pointer.view()) : nullptr;
    if (found == nullptr) {
      const std::string_view shown =
          pointer.is_string() ? text::beginning(pointer.view(), 80) : type_name(pointer);
      rt.fail(ErrorKind::context, "untrusted: '" + std::string(shown) +
                                      "' seen, a JSON pointer to a value of the context expected");
      return;
    }
    mark_below(rt, *found);
  }
}

}  // namespace plumbline::templates::jinja
