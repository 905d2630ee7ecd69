#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine.h"
#include "value.h"

/// Which bytes of a render are a stranger's.
///
/// Strings are views, so marks are kept by address: a part of a string, or another copy of the same
/// value, is marked as its bytes are, and nobody who passes values around has to think of it. Who
/// makes new bytes does it through Text, which knows the origin of each piece, or through
/// Runtime::string, which takes the whole for a stranger's if any argument of the running call is
/// one's (MadeFrom). What a template writes because of a stranger's text, such as the branch of an
/// `if`, stays the template's: control flow carries no marks.
namespace plumbline::templates::jinja {

/// A set of addresses. Marked memory outlives the marks, so an address never comes to mean other
/// bytes.
class Marks {
 public:
  void add(std::string_view text);

  /// Calls part(offset, n_bytes) for each marked part of `text`, in order.
  template <typename Part>
  void each(std::string_view text, Part part) const {
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin() && begin < std::prev(next)->second) --next;
    for (; next != ends_.end() && std::less<>{}(next->first, end); ++next) {
      const char* const from = std::max(next->first, begin, std::less<>{});
      const char* const to = std::min(next->second, end, std::less<>{});
      if (from != to)
        part(static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - from));
    }
  }

  bool any(std::string_view text) const {
    const auto next = ends_.upper_bound(text.data());
    if (next != ends_.begin() && text.data() < std::prev(next)->second) return !text.empty();
    return next != ends_.end() && std::less<>{}(next->first, text.data() + text.size());
  }

 private:
  std::map<const char*, const char*, std::less<>>
      ends_;  // by begin; disjoint, and never side by side
};

/// A text under construction: pays for its bytes with fuel and memory, and knows which are a
/// stranger's.
class Text {
 public:
  explicit Text(Runtime& rt, std::size_t n_bytes_expected = 0) : rt_(rt) {
    bytes_.reserve(n_bytes_expected);
  }

  /// Appends bytes of values or of the template; their marks come along. False at a limit.
  bool add(std::string_view s);

  /// For bytes of the engine's own making, which the caller bounds.
  std::string& own() { return bytes_; }

  /// Appends what write(part) appends to own() for each part of `s`; what stands for a marked part
  /// is marked.
  template <typename Write>
  void add_each(std::string_view s, Write write);

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  const std::vector<plumb_span>& untrusted() const { return untrusted_; }

  /// The text as a value, with its marks.
  Value value() const;

  Rendering take() && { return {std::move(bytes_), std::move(untrusted_)}; }

 private:
  void mark(std::size_t begin, std::size_t end);

  Runtime& rt_;
  std::string bytes_;
  std::vector<plumb_span> untrusted_;  // sorted, never side by side
};

/// Stands for the values that a running filter, method or function works with.
class MadeFrom {
 public:
  MadeFrom(Runtime& rt, const Value& subject, const Args& args);
  ~MadeFrom();
  MadeFrom(const MadeFrom&) = delete;
  MadeFrom& operator=(const MadeFrom&) = delete;

  /// Does any of them hold a stranger's text, at any depth?
  bool untrusted();

 private:
  Runtime& rt_;
  const Value& subject_;
  const Args& args_;
  MadeFrom* outer_;
  enum class Known : std::uint8_t { not_yet, no, yes } known_ = Known::not_yet;
};

/// Marks every string, keys included, at or below each of the JSON pointers (RFC 6901) in the array
/// `pointers_json`. Fails for text that is no such array, and for a pointer that leads nowhere:
/// what it was to protect is elsewhere.
void mark_context(Runtime& rt, const Value& context, std::string_view pointers_json);

}  // namespace plumbline::templates::jinja
