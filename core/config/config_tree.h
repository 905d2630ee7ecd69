// config_tree.h: a parsed document as a tree in which every node knows where it was written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::config {

/// Where a value was written.
struct Origin {
  std::shared_ptr<const std::string> source = {};  // a file's name, "--set KEY", or "default"
  uint32_t line = 0;  // from 1; 0: the source has no lines
  uint32_t column = 0;
  std::string preset = {};  // the profile whose file this is

  /// "a.yaml:3:5", "--set a.b", "default" or "preset balanced (b.yaml:4:7)".
  std::string text() const;
};

/// A text as one line of a message: cut, and without anything that could move a terminal's cursor.
std::string printable(std::string_view text);

struct Entry;

/// One node. A scalar's text is kept as written; what type it has is for the key's specification to
/// say.
struct Value {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;  // kScalar
  bool is_quoted = false;  // kScalar: "5" in quotes is text, not a number
  std::vector<Value> items;  // kList
  std::vector<Entry> entries;  // kMap, in the order of the file, keys unique
  Origin origin;

  static Value make(Kind kind, Origin origin, std::string_view text = {});

  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  /// Follows "a.b.c" through maps; null where it ends early.
  const Value* at(std::string_view path) const;
  Value* at(std::string_view path);
  /// Removes "a.b.c" if it is there.
  void erase(std::string_view path);
  /// What an error message calls it: `"abc"`, `a list`, `a map`, `nothing`.
  std::string shown() const;
};

struct Entry {
  std::string key;
  Origin key_origin;
  Value value;
};

/// Later layers win: maps are merged by key, everything else is replaced.
void merge(Value& under, Value over);

/// The mistakes of one load, each a line of text with its place.
class Problems {
 public:
  void add(const Origin& origin, std::string_view text);
  bool empty() const { return lines_.empty(); }
  /// INVALID_CONFIG, one line for each of the first twenty.
  Error take() const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace plumbline::config
