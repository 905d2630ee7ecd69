// metadata.h: metadata with some keys replaced, and what is read of it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diff/text_evidence.h"
#include "plumb/metadata.h"

namespace plumbline::diff {

inline constexpr const char* kTokenizerJsonKey = "tokenizer.huggingface.json";

/// What another metadata says, but for some keys. That one must outlive it.
class ReplacedMetadata {
 public:
  ReplacedMetadata(const plumb_metadata& base, const std::map<std::string, MetadataValue>& values);
  ReplacedMetadata(const ReplacedMetadata&) = delete;
  ReplacedMetadata& operator=(const ReplacedMetadata&) = delete;

  const plumb_metadata& metadata() const { return metadata_; }

 private:
  static plumb_status PLUMB_CALL get(void* context, plumb_str key, plumb_value* value);
  static plumb_str PLUMB_CALL key_at(void* context, uint64_t index);

  const plumb_metadata& base_;
  std::map<std::string, MetadataValue> kept_;
  std::map<std::string, plumb_value, std::less<>> values_;
  std::deque<std::vector<plumb_str>> views_;
  plumb_metadata metadata_;
};

/// Empty where the key is not there or is something else.
std::string_view text_of(const plumb_metadata& metadata, std::string_view key);
std::vector<std::string> texts_of(const plumb_metadata& metadata, std::string_view key);
/// Nothing where it is no integer above -1.
std::optional<uint64_t> number_of(const plumb_metadata& metadata, std::string_view key);
std::vector<int32_t> integers_of(const plumb_metadata& metadata, std::string_view key);

}  // namespace plumbline::diff
