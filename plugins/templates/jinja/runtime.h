#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arena.h"
#include "engine.h"
#include "provenance.h"
#include "value.h"

namespace plumbline::templates::jinja {

/// Everything one render shares: memory, fuel, the clock, the undefined profile, and the first
/// error.
///
/// Errors are sticky. fail() keeps the first one and gives back an undefined value; whoever goes on
/// after that works with harmless values until the nearest statement or loop asks failed() and
/// stops.
class Runtime {
 public:
  Runtime(const RenderRequest& request, const Limits& limits);

  bool failed() const { return failed_; }
  Value fail(ErrorKind kind, std::string message);
  /// Fails because of a missing value: says which, and what was to be done with it.
  Value fail_undefined(const Value& missing);
  ErrorKind error_kind() const { return kind_; }
  const std::string& error_message() const { return message_; }
  std::uint32_t error_at() const { return error_at_; }

  /// Where in the template the engine is: the place of the next failure.
  void at(std::uint32_t offset) { at_ = offset; }
  std::uint32_t at() const { return at_; }

  /// Uses up fuel; false, and an error, when none is left.
  bool spend(std::uint64_t steps) {
    if (steps > fuel_left_ || failed_ || budget_.overdrawn) [[unlikely]]
      return refuse(steps);
    fuel_left_ -= steps;
    return true;
  }
  bool spend_bytes(std::uint64_t n_bytes) { return spend(1 + n_bytes / 64); }

  /// May a text of n bytes exist? False, and an error, when it would outgrow the memory limit.
  bool fits(std::uint64_t n_bytes) {
    return (n_bytes <= limits_.memory_bytes && !budget_.overdrawn) || refuse_bytes();
  }

  /// Takes bytes for the engine's own books out of the memory limit. False, and an error, when it
  /// does not cover them.
  bool charge(std::size_t n_bytes) { return budget_.take(n_bytes) || fits(UINT64_MAX); }

  /// Goes one evaluation deeper; false, and an error, at the limit. leave() undoes it in both
  /// cases.
  bool enter() { return ++depth_ <= limits_.depth ? !failed_ : refuse_depth(); }
  void leave() { --depth_; }

  Arena& objects() { return objects_; }
  UndefinedProfile profile() const { return profile_; }
  std::optional<std::int64_t> now_unix_s() const { return now_unix_s_; }

  // Provenance ----------------------------------------------------------------------------------
  /// What strangers wrote, or null: nobody asks.
  const Marks* marks() const { return tracks_ ? &marks_ : nullptr; }
  void mark(std::string_view text);
  MadeFrom* made_from() const { return made_from_; }
  void set_made_from(MadeFrom* values) { made_from_ = values; }

  // Making values -------------------------------------------------------------------------------
  /// Copies text that the running call made: a stranger's if any of the call's values is one's.
  Value string(std::string_view s);
  /// Copies text that is the template's, or whose marks the caller sets.
  Value template_string(std::string_view s);
  Value concat(const Value& a, const Value& b);
  /// n uninitialised bytes for a string, or null after a failure; the caller sets their marks.
  char* text_bytes(std::uint64_t n);
  Value list(std::span<const Value> items, Flavor flavor = Flavor::list);
  Value list(const std::vector<Value>& items, Flavor flavor = Flavor::list);
  Value tuple(std::initializer_list<Value> items);
  Value iterator(const std::vector<Value>& items);
  Value range(std::int64_t start, std::int64_t stop, std::int64_t step);
  /// Bytes of `to` that were copied out of `from` are marked as those are.
  void copy_marks(std::string_view from, const char* to) {
    if (tracks_) copy_marks_found(from, to);
  }
  /// A string without copying: `part` lies inside `whole`.
  static Value part_of(const Value& whole, std::string_view part) {
    return Value::string(part, whole.is_ascii() || text::is_ascii(part)).as_kind_of(whole);
  }

  // What Python does implicitly, by the undefined profile ----------------------------------------
  bool truth(const Value& value);
  /// str(value).
  Value to_text(const Value& value);
  /// The elements of an iterable; empty after a failure. A generator is used up.
  std::span<const Value> items(const Value& value);
  bool is_iterable(const Value& value) const;
  /// len(value), or nothing after a failure.
  std::optional<std::int64_t> length(const Value& value);
  /// `wanted in container`.
  bool contains(const Value& container, const Value& wanted);
  bool check_comparable(const Value& a, const Value& b);

  // Lookups ---------------------------------------------------------------------------------------
  Value attribute(const Value& object, std::string_view name, const Method* method);
  Value attribute(const Value& object, std::string_view name);
  Value element(const Value& object, const Value& key);
  Value slice(const Value& object, const Value& start, const Value& stop, const Value& step);

 private:
  bool refuse(std::uint64_t steps);
  bool refuse_bytes();
  bool refuse_depth();
  void copy_marks_found(std::string_view from, const char* to);
  Value loop_attribute(const Loop& loop, std::string_view name);
  Value macro_attribute(const Macro& macro, std::string_view name);

  Budget budget_;
  Arena objects_{budget_};
  Arena texts_{budget_};
  std::uint64_t fuel_left_;
  std::uint32_t depth_ = 0;
  const Limits limits_;
  UndefinedProfile profile_;
  std::optional<std::int64_t> now_unix_s_;

  const bool tracks_;
  Marks marks_;
  MadeFrom* made_from_ = nullptr;

  bool failed_ = false;
  ErrorKind kind_ = ErrorKind::internal;
  std::string message_;
  std::uint32_t at_ = 0;
  std::uint32_t error_at_ = 0;
};

template <typename Write>
void Text::add_each(std::string_view s, Write write) {
  if (rt_.marks() == nullptr) return write(s);
  std::size_t at = 0;
  rt_.marks()->each(s, [&](std::size_t from, std::size_t n) {
    if (from > at) write(s.substr(at, from - at));
    const std::size_t begin = bytes_.size();
    write(s.substr(from, n));
    mark(begin, bytes_.size());
    at = from + n;
  });
  if (at < s.size()) write(s.substr(at));
}

/// Collects the entries of a dict; later values of equal keys win, as in Python.
class DictBuilder {
 public:
  explicit DictBuilder(Runtime& rt, std::size_t n_expected = 0);
  explicit DictBuilder(Runtime& rt, Dict* existing) : rt_(rt), dict_(existing) {}
  void set(const Value& key, const Value& value);
  Dict* dict() { return dict_; }
  Value value() const { return Value::of(static_cast<const Dict*>(dict_)); }

 private:
  bool grow();

  Runtime& rt_;
  Dict* dict_;
};

}  // namespace plumbline::templates::jinja
