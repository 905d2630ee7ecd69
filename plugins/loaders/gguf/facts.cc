#include "facts.h"

#include <cmath>
#include <cstdio>
#include <limits>

namespace plumbline::loaders::gguf {
namespace {

constexpr uint64_t kMaxCount = std::numeric_limits<int32_t>::max();

std::string shown(const Entry& entry) {
  char text[32];
  switch (entry.value.type) {
    case PLUMB_VALUE_I64:
      return std::to_string(entry.value.as.i64);
    case PLUMB_VALUE_U64:
      return std::to_string(entry.value.as.u64);
    case PLUMB_VALUE_BOOL:
      return entry.value.as.u64 != 0 ? "true" : "false";
    case PLUMB_VALUE_F64:
      std::snprintf(text, sizeof text, "%g", entry.value.as.f64);
      return text;
    case PLUMB_VALUE_STR:
      return quoted(to_view(entry.value.as.str));
    default:
      return type_name(entry);
  }
}

plumb_status blame(const Entry& entry) {
  return entry.type == kArray ? PLUMB_UNSUPPORTED : PLUMB_CORRUPT;
}

}  // namespace

Error Facts::bad(plumb_status code, std::string_view key, const std::string& seen_expected) const {
  const Entry* entry = find(key);
  const std::string where = entry == nullptr ? "" : "byte " + std::to_string(entry->offset) + ": ";
  return {code, where + prefix_ + std::string(key) + " " + seen_expected};
}

Result<const Entry*> Facts::require(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return bad(PLUMB_CORRUPT, key, "is missing");
  return entry;
}

Result<uint64_t> Facts::count(std::string_view key) const {
  PLUMB_ASSIGN(const Entry* entry, require(key));
  const plumb_value& value = entry->value;
  if (value.type == PLUMB_VALUE_U64 && value.as.u64 >= 1 && value.as.u64 <= kMaxCount)
    return value.as.u64;
  if (value.type == PLUMB_VALUE_I64 && value.as.i64 >= 1 && value.as.i64 <= int64_t{kMaxCount}) {
    return static_cast<uint64_t>(value.as.i64);
  }
  return bad(blame(*entry), key,
             "is " + shown(*entry) + ", expected an integer from 1 to 2147483647");
}

Result<uint64_t> Facts::count_or(std::string_view key, uint64_t fallback) const {
  if (!has(key)) return fallback;
  return count(key);
}

Result<double> Facts::positive(std::string_view key) const {
  PLUMB_ASSIGN(const Entry* entry, require(key));
  const plumb_value& value = entry->value;
  if (value.type == PLUMB_VALUE_F64 && std::isfinite(value.as.f64) && value.as.f64 > 0)
    return value.as.f64;
  return bad(blame(*entry), key, "is " + shown(*entry) + ", expected a finite float above 0");
}

Result<double> Facts::positive_or(std::string_view key, double fallback) const {
  if (!has(key)) return fallback;
  return positive(key);
}

Result<std::string_view> Facts::text_or(std::string_view key, std::string_view fallback) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return fallback;
  if (entry->value.type == PLUMB_VALUE_STR) return to_view(entry->value.as.str);
  return bad(blame(*entry), key, "is " + shown(*entry) + ", expected a string");
}

Result<void> Facts::must_be_off(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return {};
  const plumb_value& value = entry->value;
  const bool off = (value.type == PLUMB_VALUE_U64 && value.as.u64 == 0) ||
                   (value.type == PLUMB_VALUE_I64 && value.as.i64 == 0) ||
                   (value.type == PLUMB_VALUE_F64 && value.as.f64 == 0);
  if (off) return {};
  return bad(PLUMB_UNSUPPORTED, key, "is " + shown(*entry) + ", expected 0 or no such key");
}

}  // namespace plumbline::loaders::gguf
