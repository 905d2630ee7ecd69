#include "core/diff/text_signatures/metadata.h"

#include "plumb/sdk/abi.h"

namespace plumbline::diff {
namespace {

plumb_value value_of(const plumb_metadata& metadata, std::string_view key) {
  auto value = make_abi<plumb_value>();
  if (metadata.get(metadata.context, to_abi(key), &value) != PLUMB_OK)
    value.type = PLUMB_VALUE_NONE;
  return value;
}

}  // namespace

ReplacedMetadata::ReplacedMetadata(const plumb_metadata& base,
                                   const std::map<std::string, MetadataValue>& values)
    : base_(base), kept_(values), metadata_(make_abi<plumb_metadata>()) {
  metadata_.context = this;
  metadata_.get = get;
  metadata_.key_at = key_at;
  for (const auto& [key, kept] : kept_) {
    plumb_value& value = values_[key] = make_abi<plumb_value>();
    if (const auto* flag = std::get_if<bool>(&kept)) {
      value.type = PLUMB_VALUE_BOOL;
      value.as.u64 = *flag ? 1 : 0;
    } else if (const auto* number = std::get_if<uint64_t>(&kept)) {
      value.type = PLUMB_VALUE_U64;
      value.as.u64 = *number;
    } else if (const auto* text = std::get_if<std::string>(&kept)) {
      value.type = PLUMB_VALUE_STR;
      value.as.str = to_abi(*text);
    } else if (const auto* numbers = std::get_if<std::vector<int32_t>>(&kept)) {
      value.type = PLUMB_VALUE_I32_ARRAY;
      value.as.array = {numbers->data(), numbers->size()};
    } else {
      auto& views = views_.emplace_back();
      for (const std::string& one : std::get<std::vector<std::string>>(kept))
        views.push_back(to_abi(one));
      value.type = PLUMB_VALUE_STR_ARRAY;
      value.as.array = {views.data(), views.size()};
    }
  }
}

plumb_status ReplacedMetadata::get(void* context, plumb_str key, plumb_value* value) {
  const auto& self = *static_cast<ReplacedMetadata*>(context);
  const auto found = self.values_.find(to_view(key));
  if (found == self.values_.end()) return self.base_.get(self.base_.context, key, value);
  *value = found->second;
  return PLUMB_OK;
}

// A replaced key that the file does not have is not listed.
plumb_str ReplacedMetadata::key_at(void* context, uint64_t index) {
  const auto& self = *static_cast<ReplacedMetadata*>(context);
  return self.base_.key_at(self.base_.context, index);
}

std::string_view text_of(const plumb_metadata& metadata, std::string_view key) {
  const plumb_value value = value_of(metadata, key);
  return value.type == PLUMB_VALUE_STR ? to_view(value.as.str) : std::string_view();
}

std::optional<uint64_t> number_of(const plumb_metadata& metadata, std::string_view key) {
  const plumb_value value = value_of(metadata, key);
  if (value.type == PLUMB_VALUE_U64) return value.as.u64;
  if (value.type == PLUMB_VALUE_I64 && value.as.i64 >= 0)
    return static_cast<uint64_t>(value.as.i64);
  return std::nullopt;
}

std::vector<std::string> texts_of(const plumb_metadata& metadata, std::string_view key) {
  std::vector<std::string> texts;
  const plumb_value value = value_of(metadata, key);
  if (value.type != PLUMB_VALUE_STR_ARRAY) return texts;
  const auto* views = static_cast<const plumb_str*>(value.as.array.data);
  for (uint64_t i = 0; i < value.as.array.n; ++i) texts.push_back(to_string(views[i]));
  return texts;
}

std::vector<int32_t> integers_of(const plumb_metadata& metadata, std::string_view key) {
  const plumb_value value = value_of(metadata, key);
  if (value.type != PLUMB_VALUE_I32_ARRAY) return {};
  const auto* numbers = static_cast<const int32_t*>(value.as.array.data);
  return {numbers, numbers + value.as.array.n};
}

}  // namespace plumbline::diff
