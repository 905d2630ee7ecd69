// key_values.h: the key-value part of a GGUF file, as views into the mapping.
#pragma once

#include <string_view>
#include <vector>

#include "plumb/metadata.h"
#include "reader.h"

namespace plumbline::loaders::gguf {

// Types of values. Source: the GGUF specification, enum gguf_metadata_value_type.
enum ValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};

struct Entry {
  std::string_view key;
  uint64_t offset;  // of the value, in the file
  uint32_t type;  // ValueType
  uint32_t element_type;  // ValueType of an array's elements
  plumb_value value;  // of type NONE if no PLUMB_VALUE_* holds it without loss
};

/// "u32", or "array of string".
std::string type_name(const Entry& entry);

/// Arrays lie unaligned in the file, so numbers are copied out of it (at most 4 bytes for each byte
/// of the file), and strings become one table of views.
class Metadata {
 public:
  /// The shortest entry: a key of one byte and a value of one byte.
  static constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 1;

  /// Fails CORRUPT: a duplicate or malformed key, an unknown type; UNSUPPORTED: an array of arrays.
  static Result<Metadata> read(Reader& reader, uint64_t n_entries);

  /// Null if there is no such key. O(log n).
  const Entry* find(std::string_view key) const;
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Result<void> read_value(Reader& reader, Entry& entry);
  Result<void> read_array(Reader& reader, Entry& entry);
  Result<void> read_strings(Reader& reader, uint64_t n, plumb_value& value);
  template <typename From>
  Result<void> read_ints(Reader& reader, uint64_t n, plumb_value& value);
  Result<void> sort();

  std::vector<Entry> entries_;  // in file order
  std::vector<uint32_t> by_key_;  // indices into entries_, ascending by key
  std::vector<std::vector<int32_t>> ints_;
  std::vector<std::vector<float>> floats_;
  std::vector<std::vector<plumb_str>> strings_;
};

}  // namespace plumbline::loaders::gguf
