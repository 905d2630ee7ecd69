#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "text.h"

namespace plumbline::templates::jinja {

class Runtime;
struct Args;
struct Cycler;
struct Dict;
struct ForStatement;
struct Iterator;
struct Joiner;
struct List;
struct Loop;
struct Macro;
struct MacroNode;
struct Range;
struct Scope;
struct Value;

enum class Kind : std::uint8_t {
  undefined,
  none,
  boolean,
  integer,
  big_integer,  // outside 64 bits: decimal text that can be printed and compared, not computed with
  floating,
  string,
  list,
  dict,
  range,
  iterator,
  name_space,
  macro,
  loop,
  method,
  function,
  cycler,
  joiner,
};

/// Why there is no value.
enum class Missing : std::uint8_t {
  variable,  // no such name
  attribute,  // no such attribute, key or index
  element,  // first, last, min, max of nothing; a loop's neighbour beyond the end
  branch,  // an inline if without else, whose test was false: prints nothing in every profile
  argument,  // the argument was not passed; never seen by a template
};

using MethodFn = Value (*)(Runtime&, const Value& self, const Args&);
using FunctionFn = Value (*)(Runtime&, const Args&);

struct Method {
  std::string_view name;
  MethodFn call;
};

struct Function {
  std::string_view name;
  FunctionFn call;
};

struct BoundMethod;

/// One value of the language: 16 bytes, owns nothing, immutable apart from namespaces.
struct Value {
  Kind kind = Kind::undefined;
  std::uint8_t tag = 0;  // undefined: the Missing; string: kAscii, kMarkup
  Kind owner = Kind::none;  // undefined attribute: what it was looked up in
  std::uint32_t n_bytes = 0;  // string, big_integer, undefined: length of `bytes`
  union {
    const char* bytes = nullptr;
    bool boolean;
    std::int64_t integer;
    double floating;
    const List* list;
    const Dict* dict;
    Dict* space;
    const Range* range;
    Iterator* iterator;
    const Macro* macro;
    Loop* loop;
    const BoundMethod* method;
    const Function* function;
    Cycler* cycler;
    Joiner* joiner;
  };

  static Value undefined(Missing why, std::string_view name, Kind owner = Kind::none) {
    Value v;
    v.tag = static_cast<std::uint8_t>(why);
    v.owner = owner;
    v.set_bytes(name);
    return v;
  }
  static Value absent() { return undefined(Missing::argument, {}); }
  static Value none() { return Value(Kind::none); }
  static Value of(bool b) {
    Value v(Kind::boolean);
    v.boolean = b;
    return v;
  }
  static Value of(std::int64_t i) {
    Value v(Kind::integer);
    v.integer = i;
    return v;
  }
  static Value of(double d) {
    Value v(Kind::floating);
    v.floating = d;
    return v;
  }
  static Value of(const List* list) {
    Value v(Kind::list);
    v.list = list;
    return v;
  }
  static Value of(const Dict* dict) {
    Value v(Kind::dict);
    v.dict = dict;
    return v;
  }
  static Value of(const Function* function) {
    Value v(Kind::function);
    v.function = function;
    return v;
  }
  static Value big_integer(std::string_view digits) {
    Value v(Kind::big_integer);
    v.set_bytes(digits);
    return v;
  }
  /// `s` must outlive the value: text of the template, of the render's arena, or a literal.
  static Value string(std::string_view s) { return string(s, text::is_ascii(s)); }
  static Value string(std::string_view s, bool ascii) {
    Value v(Kind::string);
    v.tag = ascii ? kAscii : 0;
    v.set_bytes(s);
    return v;
  }

  explicit Value(Kind k) : kind(k) {}
  Value() = default;

  bool is_undefined() const { return kind == Kind::undefined; }
  bool is_none() const { return kind == Kind::none; }
  bool is_string() const { return kind == Kind::string; }
  bool is_absent() const { return is_undefined() && missing() == Missing::argument; }
  bool is_integral() const { return kind == Kind::integer || kind == Kind::boolean; }
  bool is_number() const { return is_integral() || kind == Kind::floating; }

  Missing missing() const { return static_cast<Missing>(tag); }
  bool is_ascii() const { return (tag & kAscii) != 0; }
  /// Is it one of markupsafe's strings, which escape what is joined to them? Made by `safe` and
  /// `escape`.
  bool is_markup() const { return is_string() && (tag & kMarkup) != 0; }
  /// The same string, as a string of the kind of `model`.
  Value as_kind_of(const Value& model) const { return model.is_markup() ? as_markup() : *this; }
  Value as_markup() const {
    Value v = *this;
    v.tag |= kMarkup;
    return v;
  }
  Value without_markup() const {
    Value v = *this;
    v.tag &= kAscii;
    return v;
  }
  std::string_view view() const { return {bytes, n_bytes}; }
  /// The number as Python's arithmetic sees it: True is 1.
  std::int64_t as_integer() const { return kind == Kind::boolean ? (boolean ? 1 : 0) : integer; }
  double as_double() const {
    return kind == Kind::floating ? floating : static_cast<double>(as_integer());
  }

 private:
  static constexpr std::uint8_t kAscii = 1;
  static constexpr std::uint8_t kMarkup = 2;

  void set_bytes(std::string_view s) {
    bytes = s.data();
    n_bytes = static_cast<std::uint32_t>(s.size());
  }
};
static_assert(sizeof(Value) == 16);

/// What Python type a sequence of values stands for: it decides printing and what may be done with
/// it.
enum class Flavor : std::uint8_t { list, tuple, group, dict_items, dict_keys, dict_values };

struct List {
  std::span<const Value> items;
  Flavor flavor = Flavor::list;
  std::uint16_t depth =
      1;  // nesting, bounded where values are made: recursion over values is bounded too
};

struct Entry {
  Value key;
  Value value;
};

/// An insertion-ordered hash table. Built by DictBuilder; only a namespace changes later.
struct Dict {
  std::span<Entry> entries;  // the used part
  std::uint32_t capacity = 0;
  std::span<std::uint32_t>
      index;  // open addressing, entry number + 1; empty while the dict is small
  std::uint16_t depth = 1;
};

struct Range {
  std::int64_t start;
  std::int64_t stop;
  std::int64_t step;
  std::int64_t n;
};

/// A Python generator: can be walked over once.
struct Iterator {
  std::span<const Value> items;
  std::size_t next_at = 0;
};

struct Macro {
  const MacroNode* node;
  Scope* scope;
};

/// The state of a running for loop, as its body sees it.
struct Loop {
  const ForStatement* node;
  Scope* scope;
  std::span<const Value> items;
  std::size_t at = 0;
  std::int64_t depth = 1;
  const Value* last_changed = nullptr;  // a tuple: what loop.changed() was given last
};

/// jinja2's cycler(): one of its items after the other, over and over.
struct Cycler {
  std::span<const Value> items;  // at least one
  std::size_t at = 0;
};

/// jinja2's joiner(): nothing when it is called first, then its separator.
struct Joiner {
  Value separator;
  bool is_used = false;
};

struct BoundMethod {
  Value self;
  const Method* method;
};

/// Limit of nesting of lists and dicts, in data and made by templates.
inline constexpr std::uint16_t kMaxDataDepth = 400;

std::uint16_t depth_of(const Value& value);

/// The name of the Python type, as in its error messages.
std::string_view type_name(const Value& value);

/// Element of a dict by key, or null. Keys that Python cannot hash are never found.
const Value* find(Runtime& rt, const Dict& dict, const Value& key);
const Value* find(Runtime& rt, const Dict& dict, std::string_view key);

/// Python's ==. Spends fuel on what it walks over.
bool equal(Runtime& rt, const Value& a, const Value& b);

enum class Order { less, equal, greater, unordered };

/// Python's <, for numbers, strings, lists and tuples; fails with a type error for others.
/// unordered: a NaN is involved, or it failed.
Order compare(Runtime& rt, const Value& a, const Value& b, std::string_view operator_text);

bool is_hashable(const Value& value);
std::uint64_t hash(Runtime& rt, const Value& value);

/// Is `a` the same object as `b`, by Python's `is` (small integers and equal strings count as the
/// same)?
bool identical(const Value& a, const Value& b);

}  // namespace plumbline::templates::jinja
