#include "runtime.h"

#include <algorithm>
#include <limits>

#include "builtins.h"
#include "printing.h"
#include "search.h"

namespace plumbline::templates::jinja {
namespace {

std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

/// jinja2's way of naming an object in "... has no attribute".
std::string owner_text(Kind owner) {
  switch (owner) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return "'bool object'";
    case Kind::integer:
    case Kind::big_integer:
      return "'int object'";
    case Kind::floating:
      return "'float object'";
    case Kind::string:
      return "'str object'";
    case Kind::list:
      return "'list object'";
    case Kind::dict:
      return "'dict object'";
    case Kind::name_space:
      return "'namespace object'";
    case Kind::loop:
      return "'loop object'";
    default:
      return "this object";
  }
}

}  // namespace

Runtime::Runtime(const RenderRequest& request, const Limits& limits)
    : budget_{limits.memory_bytes, false},
      fuel_left_(limits.fuel),
      limits_(limits),
      profile_(request.profile),
      now_unix_s_(request.now_unix_s),
      tracks_(request.untrusted_json.has_value()) {}

Value Runtime::fail(ErrorKind kind, std::string message) {
  if (!failed_) {
    failed_ = true;
    kind_ = kind;
    message_ = std::move(message);
    error_at_ = at_;
  }
  return Value::undefined(Missing::element, {});
}

Value Runtime::fail_undefined(const Value& missing) {
  const std::string name = quoted(missing.view());
  switch (missing.missing()) {
    case Missing::variable:
      return fail(ErrorKind::undefined, name + " is undefined");
    case Missing::attribute:
      return fail(ErrorKind::undefined, owner_text(missing.owner) + " has no attribute " + name);
    case Missing::branch:
      return fail(ErrorKind::undefined,
                  "an inline if without else gave no value, a value expected");
    default:
      return fail(ErrorKind::undefined, "undefined value seen, a value expected");
  }
}

bool Runtime::refuse(std::uint64_t steps) {
  if (failed_) return false;
  if (steps <= fuel_left_) return refuse_bytes();
  fuel_left_ = 0;
  fail(ErrorKind::limit, "out of fuel: more than " + std::to_string(limits_.fuel) + " steps");
  return false;
}

bool Runtime::refuse_bytes() {
  fail(ErrorKind::limit,
       "out of memory: more than " + std::to_string(limits_.memory_bytes) + " bytes");
  return false;
}

bool Runtime::refuse_depth() {
  fail(ErrorKind::limit,
       "evaluation nested deeper than " + std::to_string(limits_.depth) + " (endless recursion?)");
  return false;
}

// Making values ---------------------------------------------------------------------------------

char* Runtime::text_bytes(std::uint64_t n) {
  // Lengths are 32-bit; the memory limit may be set higher than that.
  constexpr std::uint64_t kLongest = std::numeric_limits<std::uint32_t>::max();
  if (failed_ || !fits(n) || !spend_bytes(n)) return nullptr;
  char* bytes = n > kLongest ? nullptr : texts_.bytes(static_cast<std::size_t>(n));
  if (bytes == nullptr)
    fail(ErrorKind::limit, "text of " + std::to_string(n) + " bytes is too long");
  return bytes;
}

void Runtime::mark(std::string_view text) {
  constexpr std::size_t kMarkBytes = 64;  // about what one node of the map takes
  if (tracks_ && charge(kMarkBytes)) marks_.add(text);
}

Value Runtime::string(std::string_view s) {
  const Value made = template_string(s);
  if (tracks_ && made_from_ != nullptr && made_from_->untrusted()) mark(made.view());
  return made;
}

Value Runtime::template_string(std::string_view s) {
  if (s.empty()) return Value::string("", true);
  char* bytes = text_bytes(s.size());
  if (bytes == nullptr) return Value::string("", true);
  std::memcpy(bytes, s.data(), s.size());
  return Value::string({bytes, s.size()});
}

void Runtime::copy_marks_found(std::string_view from, const char* to) {
  std::vector<std::string_view> found;  // the map must not change under the search
  marks_.each(from, [&](std::size_t at, std::size_t n) { found.emplace_back(to + at, n); });
  for (const std::string_view part : found) mark(part);
}

Value Runtime::concat(const Value& a, const Value& b) {
  if (b.n_bytes == 0) return a;
  if (a.n_bytes == 0) return b;
  const std::uint64_t n = std::uint64_t{a.n_bytes} + b.n_bytes;
  const bool ascii = a.is_ascii() && b.is_ascii();
  constexpr std::uint64_t kLongest = std::numeric_limits<std::uint32_t>::max();
  if (n <= kLongest && spend_bytes(b.n_bytes) && texts_.extend(a.bytes + a.n_bytes, b.n_bytes)) {
    // `a` is the newest text of the arena, which is never const memory; it stays valid as a prefix.
    std::memcpy(const_cast<char*>(a.bytes) + a.n_bytes, b.bytes, b.n_bytes);
    copy_marks(b.view(), a.bytes + a.n_bytes);
    return Value::string({a.bytes, static_cast<std::size_t>(n)}, ascii);
  }
  char* bytes = text_bytes(n);
  if (bytes == nullptr) return Value::string("", true);
  std::memcpy(bytes, a.bytes, a.n_bytes);
  std::memcpy(bytes + a.n_bytes, b.bytes, b.n_bytes);
  copy_marks(a.view(), bytes);
  copy_marks(b.view(), bytes + a.n_bytes);
  return Value::string({bytes, static_cast<std::size_t>(n)}, ascii);
}

Value Runtime::list(std::span<const Value> from, Flavor flavor) {
  std::uint16_t depth = 0;
  for (const Value& item : from) depth = std::max(depth, depth_of(item));
  if (depth >= kMaxDataDepth) {
    return fail(ErrorKind::limit,
                "lists nested deeper than " + std::to_string(kMaxDataDepth) + " levels");
  }
  if (!spend(1 + from.size())) return Value::of(objects_.make<List>());
  Value* items = objects_.array<Value>(from.size());
  if (items == nullptr) {
    fits(std::numeric_limits<std::uint64_t>::max());
    return Value::of(objects_.make<List>());
  }
  std::copy(from.begin(), from.end(), items);
  return Value::of(objects_.make<List>(std::span<const Value>(items, from.size()), flavor,
                                       static_cast<std::uint16_t>(depth + 1)));
}

Value Runtime::list(const std::vector<Value>& from, Flavor flavor) {
  return list(std::span<const Value>(from), flavor);
}

Value Runtime::tuple(std::initializer_list<Value> from) {
  return list(std::span<const Value>(from.begin(), from.size()), Flavor::tuple);
}

Value Runtime::iterator(const std::vector<Value>& from) {
  const Value all = list(from);
  Value v(Kind::iterator);
  v.iterator =
      objects_.make<Iterator>(all.kind == Kind::list ? all.list->items : std::span<const Value>{});
  return v;
}

Value Runtime::range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  // Distances are taken in unsigned arithmetic: they may not fit a signed 64-bit number.
  std::uint64_t n = 0;
  const auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  if (step > 0 && start < stop)
    n = (distance(start, stop) - 1) / static_cast<std::uint64_t>(step) + 1;
  if (step < 0 && start > stop)
    n = (distance(stop, start) - 1) / (0 - static_cast<std::uint64_t>(step)) + 1;
  constexpr std::uint64_t kMaxRange = 100000;  // jinja2.sandbox.MAX_RANGE
  if (n > kMaxRange) {
    return fail(ErrorKind::limit, "range of " + std::to_string(n) + " numbers seen, at most " +
                                      std::to_string(kMaxRange) + " allowed");
  }
  Value v(Kind::range);
  v.range = objects_.make<Range>(start, stop, step, static_cast<std::int64_t>(n));
  return v;
}

// What Python does implicitly -------------------------------------------------------------------

bool Runtime::truth(const Value& value) {
  switch (value.kind) {
    case Kind::undefined:
      if (profile_ == UndefinedProfile::strict && value.missing() != Missing::branch)
        fail_undefined(value);
      return false;
    case Kind::none:
      return false;
    case Kind::boolean:
      return value.boolean;
    case Kind::integer:
      return value.integer != 0;
    case Kind::floating:
      return value.floating != 0;
    case Kind::string:
      return value.n_bytes != 0;
    case Kind::list:
      return !value.list->items.empty();
    case Kind::dict:
      return !value.dict->entries.empty();
    case Kind::range:
      return value.range->n != 0;
    default:
      return true;
  }
}

Value Runtime::to_text(const Value& value) {
  if (value.is_string()) return value;
  if (value.is_undefined()) {
    if (profile_ != UndefinedProfile::hf && value.missing() != Missing::branch)
      fail_undefined(value);
    return Value::string("", true);
  }
  Text out(*this);
  append_text(*this, out, value);
  return out.value();
}

bool Runtime::is_iterable(const Value& value) const {
  switch (value.kind) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::dict:
    case Kind::range:
    case Kind::iterator:
    case Kind::loop:
      return true;
    default:
      return false;
  }
}

std::span<const Value> Runtime::items(const Value& value) {
  std::vector<Value> made;
  switch (value.kind) {
    case Kind::list:
      return value.list->items;
    case Kind::iterator: {
      const auto rest = value.iterator->items.subspan(value.iterator->next_at);
      value.iterator->next_at = value.iterator->items.size();
      return rest;
    }
    case Kind::dict:
      if (!spend(value.dict->entries.size())) return {};
      made.reserve(value.dict->entries.size());
      for (const Entry& entry : value.dict->entries) made.push_back(entry.key);
      break;
    case Kind::string:
      if (!spend(value.n_bytes)) return {};
      for (std::size_t at = 0; at < value.n_bytes;) {
        const std::size_t from = at;
        text::next_point(value.view(), at);
        made.push_back(Value::string(value.view().substr(from, at - from), at - from == 1));
      }
      break;
    case Kind::range:
      if (!spend(static_cast<std::uint64_t>(value.range->n))) return {};
      for (std::int64_t i = 0; i < value.range->n; ++i) {
        made.push_back(Value::of(value.range->start + i * value.range->step));
      }
      break;
    case Kind::undefined:
      if (profile_ != UndefinedProfile::hf) fail_undefined(value);
      return {};
    default:
      fail(ErrorKind::type,
           "'" + std::string(type_name(value)) + "' seen, something to loop over expected");
      return {};
  }
  const Value all = list(made);
  return all.kind == Kind::list ? all.list->items : std::span<const Value>{};
}

std::optional<std::int64_t> Runtime::length(const Value& value) {
  switch (value.kind) {
    case Kind::string:
      if (value.is_ascii()) return value.n_bytes;
      spend_bytes(value.n_bytes);
      return static_cast<std::int64_t>(text::count_points(value.view()));
    case Kind::list:
      return static_cast<std::int64_t>(value.list->items.size());
    case Kind::dict:
      return static_cast<std::int64_t>(value.dict->entries.size());
    case Kind::range:
      return value.range->n;
    case Kind::loop:
      return static_cast<std::int64_t>(value.loop->items.size());
    case Kind::undefined:
      if (profile_ == UndefinedProfile::hf) return 0;
      fail_undefined(value);
      return std::nullopt;
    default:
      fail(ErrorKind::type,
           "'" + std::string(type_name(value)) + "' seen, something with a length expected");
      return std::nullopt;
  }
}

bool Runtime::check_comparable(const Value& a, const Value& b) {
  if (profile_ != UndefinedProfile::strict) return true;
  if (a.is_undefined()) fail_undefined(a);
  if (b.is_undefined()) fail_undefined(b);
  return !failed_;
}

bool Runtime::contains(const Value& container, const Value& wanted) {
  if (!check_comparable(wanted, wanted)) return false;
  if (container.is_string()) {
    if (wanted.is_string()) {
      return spend_bytes(container.n_bytes) &&
             text::find(container.view(), wanted.view()) != std::string_view::npos;
    }
    if (wanted.is_undefined()) {
      fail_undefined(wanted);
    } else {
      fail(ErrorKind::type, "'in' between '" + std::string(type_name(wanted)) +
                                "' and 'str' seen, a string expected on the left");
    }
    return false;
  }
  if (container.kind == Kind::dict) {
    if (!is_hashable(wanted)) {
      fail(ErrorKind::type, "'" + std::string(type_name(wanted)) + "' cannot be a dict key");
      return false;
    }
    return find(*this, *container.dict, wanted) != nullptr;
  }
  return std::ranges::any_of(items(container),
                             [&](const Value& item) { return equal(*this, item, wanted); });
}

}  // namespace plumbline::templates::jinja
