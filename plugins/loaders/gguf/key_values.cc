#include "key_values.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace plumbline::loaders::gguf {
namespace {

constexpr const char* kTypeNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                      "bool", "string", "array", "u64", "i64", "f64"};
constexpr uint64_t kTypeBytes[] = {1, 1, 2,  2, 4, 4, 4,
                                   1, 8, 12, 8, 8, 8};  // the least that one takes
constexpr uint64_t kMaxKeyBytes = 65535;  // Source: the GGUF specification

template <typename T>
Result<plumb_value> integer(Reader& reader) {
  PLUMB_ASSIGN(const T number, reader.number<T>("a value"));
  auto value = make_abi<plumb_value>();
  if constexpr (std::is_signed_v<T>) {
    value.type = PLUMB_VALUE_I64;
    value.as.i64 = number;
  } else {
    value.type = PLUMB_VALUE_U64;
    value.as.u64 = number;
  }
  return value;
}

template <typename T>
Result<plumb_value> real(Reader& reader) {
  PLUMB_ASSIGN(const T number, reader.number<T>("a value"));
  auto value = make_abi<plumb_value>();
  value.type = PLUMB_VALUE_F64;
  value.as.f64 = static_cast<double>(number);
  return value;
}

Result<plumb_value> boolean(Reader& reader) {
  const uint64_t offset = reader.at();
  PLUMB_ASSIGN(auto value, integer<uint8_t>(reader));
  if (value.as.u64 > 1)
    return corrupt(offset, "bool is " + std::to_string(value.as.u64) + ", expected 0 or 1");
  value.type = PLUMB_VALUE_BOOL;
  return value;
}

Result<plumb_value> text(Reader& reader) {
  PLUMB_ASSIGN(const std::string_view view, reader.string("a string value"));
  auto value = make_abi<plumb_value>();
  value.type = PLUMB_VALUE_STR;
  value.as.str = to_abi(view);
  return value;
}

Result<plumb_value> scalar(Reader& reader, uint32_t type) {
  switch (type) {
    case kU8:
      return integer<uint8_t>(reader);
    case kI8:
      return integer<int8_t>(reader);
    case kU16:
      return integer<uint16_t>(reader);
    case kI16:
      return integer<int16_t>(reader);
    case kU32:
      return integer<uint32_t>(reader);
    case kI32:
      return integer<int32_t>(reader);
    case kU64:
      return integer<uint64_t>(reader);
    case kI64:
      return integer<int64_t>(reader);
    case kF32:
      return real<float>(reader);
    case kF64:
      return real<double>(reader);
    case kBool:
      return boolean(reader);
    default:
      return text(reader);
  }
}

void set_array(plumb_value& value, uint32_t type, const void* data, uint64_t n) {
  value.type = type;
  value.as.array.data = data;
  value.as.array.n = n;
}

Result<uint32_t> known_type(Reader& reader, const char* what) {
  const uint64_t offset = reader.at();
  PLUMB_ASSIGN(const uint32_t type, reader.number<uint32_t>(what));
  if (type > kF64)
    return corrupt(offset, std::string(what) + " " + std::to_string(type) + ", expected 0 to 12");
  return type;
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr size_t kMaxBytes = 64;
  std::string out = "\"";
  for (const char c : text.substr(0, kMaxBytes)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > kMaxBytes ? "...\"" : "\"");
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::string type_name(const Entry& entry) {
  if (entry.type != kArray) return kTypeNames[entry.type];
  return std::string("array of ") + kTypeNames[entry.element_type];
}

Result<Metadata> Metadata::read(Reader& reader, uint64_t n_entries) {
  Metadata metadata;
  for (uint64_t i = 0; i < n_entries; ++i) {
    Entry entry{};
    const uint64_t offset = reader.at();
    PLUMB_ASSIGN(entry.key, reader.string("a key"));
    if (!is_name(entry.key) || entry.key.size() > kMaxKeyBytes) {
      return corrupt(offset, "key " + quoted(entry.key) + " of " +
                                 std::to_string(entry.key.size()) +
                                 " bytes, expected 1 to 65535 bytes of printable ASCII");
    }
    if (auto done = metadata.read_value(reader, entry); !done) {
      return std::move(done).error().at("key " + quoted(entry.key));
    }
    metadata.entries_.push_back(entry);
  }
  PLUMB_TRY(metadata.sort());
  return metadata;
}

Result<void> Metadata::read_value(Reader& reader, Entry& entry) {
  PLUMB_ASSIGN(entry.type, known_type(reader, "value type"));
  entry.offset = reader.at();
  if (entry.type == kArray) return read_array(reader, entry);
  PLUMB_ASSIGN(entry.value, scalar(reader, entry.type));
  return {};
}

Result<void> Metadata::read_array(Reader& reader, Entry& entry) {
  entry.value = make_abi<plumb_value>();
  PLUMB_ASSIGN(entry.element_type, known_type(reader, "array element type"));
  if (entry.element_type == kArray) {
    return Error{PLUMB_UNSUPPORTED, "byte " + std::to_string(entry.offset) +
                                        ": array of arrays, expected numbers or strings"};
  }
  PLUMB_ASSIGN(const uint64_t n, reader.count(kTypeBytes[entry.element_type], "array length"));
  switch (entry.element_type) {
    case kU8:
      return read_ints<uint8_t>(reader, n, entry.value);
    case kI8:
      return read_ints<int8_t>(reader, n, entry.value);
    case kU16:
      return read_ints<uint16_t>(reader, n, entry.value);
    case kI16:
      return read_ints<int16_t>(reader, n, entry.value);
    case kU32:
      return read_ints<uint32_t>(reader, n, entry.value);
    case kI32:
      return read_ints<int32_t>(reader, n, entry.value);
    case kU64:
      return read_ints<uint64_t>(reader, n, entry.value);
    case kI64:
      return read_ints<int64_t>(reader, n, entry.value);
    case kBool:
      return read_ints<uint8_t>(reader, n, entry.value);
    case kString:
      return read_strings(reader, n, entry.value);
    case kF32: {
      PLUMB_ASSIGN(const uint8_t* bytes, reader.take(n * sizeof(float), "an array"));
      auto& floats = floats_.emplace_back(n);
      if (n > 0) std::memcpy(floats.data(), bytes, n * sizeof(float));
      set_array(entry.value, PLUMB_VALUE_F32_ARRAY, floats.data(), n);
      return {};
    }
    default: {  // f64: no value type holds it, so the entry stays NONE
      PLUMB_TRY(reader.take(n * sizeof(double), "an array"));
      return {};
    }
  }
}

template <typename From>
Result<void> Metadata::read_ints(Reader& reader, uint64_t n, plumb_value& value) {
  PLUMB_ASSIGN(const uint8_t* bytes, reader.take(n * sizeof(From), "an array"));
  std::vector<int32_t> ints(n);
  for (uint64_t i = 0; i < n; ++i) {
    From element;
    std::memcpy(&element, bytes + i * sizeof element, sizeof element);
    if (!std::in_range<int32_t>(element)) return {};  // the value stays NONE
    ints[i] = static_cast<int32_t>(element);
  }
  set_array(value, PLUMB_VALUE_I32_ARRAY, ints_.emplace_back(std::move(ints)).data(), n);
  return {};
}

Result<void> Metadata::read_strings(Reader& reader, uint64_t n, plumb_value& value) {
  auto& table = strings_.emplace_back(n);
  for (plumb_str& element : table) {
    PLUMB_ASSIGN(const std::string_view view, reader.string("an array's string"));
    element = to_abi(view);
  }
  set_array(value, PLUMB_VALUE_STR_ARRAY, table.data(), n);
  return {};
}

Result<void> Metadata::sort() {
  by_key_.resize(entries_.size());
  std::iota(by_key_.begin(), by_key_.end(), 0u);
  const auto key = [this](uint32_t i) { return entries_[i].key; };
  std::ranges::sort(by_key_, {}, key);
  const auto twin = std::ranges::adjacent_find(by_key_, {}, key);
  if (twin == by_key_.end()) return {};
  const auto [first, second] = std::minmax(entries_[twin[0]].offset, entries_[twin[1]].offset);
  return corrupt(
      second, "key " + quoted(key(*twin)) + " again, first seen at byte " + std::to_string(first));
}

const Entry* Metadata::find(std::string_view key) const {
  const auto of = [this](uint32_t i) { return entries_[i].key; };
  const auto at = std::ranges::lower_bound(by_key_, key, {}, of);
  return at != by_key_.end() && of(*at) == key ? &entries_[*at] : nullptr;
}

}  // namespace plumbline::loaders::gguf
