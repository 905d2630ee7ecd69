// made_metadata.h: metadata that a test makes up, key by key.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plumb/metadata.h"
#include "plumb/sdk/abi.h"

namespace plumbline::test {

class MadeMetadata {
 public:
  MadeMetadata() {
    metadata_ = make_abi<plumb_metadata>();
    metadata_.context = this;
    metadata_.get = [](void* self, plumb_str key, plumb_value* value) -> plumb_status {
      const auto& values = static_cast<MadeMetadata*>(self)->values_;
      const auto found = values.find(to_string(key));
      if (found == values.end()) return PLUMB_NOT_FOUND;
      *value = found->second;
      return PLUMB_OK;
    };
    metadata_.key_at = [](void*, uint64_t) { return plumb_str{nullptr, 0}; };
  }
  MadeMetadata(const MadeMetadata&) = delete;
  MadeMetadata& operator=(const MadeMetadata&) = delete;

  const plumb_metadata& metadata() const { return metadata_; }

  MadeMetadata& text(const std::string& key, std::string_view text) {
    plumb_value& value = fresh(key, PLUMB_VALUE_STR);
    value.as.str = to_abi(kept_texts_.emplace_back(text));
    return *this;
  }
  MadeMetadata& integer(const std::string& key, uint64_t number) {
    fresh(key, PLUMB_VALUE_U64).as.u64 = number;
    return *this;
  }
  MadeMetadata& flag(const std::string& key, bool on) {
    fresh(key, PLUMB_VALUE_BOOL).as.u64 = on ? 1 : 0;
    return *this;
  }
  MadeMetadata& strings(const std::string& key, const std::vector<std::string>& texts) {
    auto& views = kept_views_.emplace_back();
    for (const std::string& one : texts) views.push_back(to_abi(kept_texts_.emplace_back(one)));
    return array(key, PLUMB_VALUE_STR_ARRAY, views.data(), views.size());
  }
  MadeMetadata& integers(const std::string& key, std::vector<int32_t> numbers) {
    const auto& kept = kept_integers_.emplace_back(std::move(numbers));
    return array(key, PLUMB_VALUE_I32_ARRAY, kept.data(), kept.size());
  }
  MadeMetadata& floats(const std::string& key, std::vector<float> numbers) {
    const auto& kept = kept_floats_.emplace_back(std::move(numbers));
    return array(key, PLUMB_VALUE_F32_ARRAY, kept.data(), kept.size());
  }
  MadeMetadata& array(const std::string& key, uint32_t type, const void* data, uint64_t n) {
    fresh(key, type).as.array = {data, n};
    return *this;
  }
  MadeMetadata& remove(const std::string& key) {
    values_.erase(key);
    return *this;
  }

 private:
  plumb_value& fresh(const std::string& key, uint32_t type) {
    plumb_value& value = values_[key] = make_abi<plumb_value>();
    value.type = type;
    return value;
  }

  plumb_metadata metadata_;
  std::map<std::string, plumb_value> values_;
  std::deque<std::string> kept_texts_;
  std::deque<std::vector<plumb_str>> kept_views_;
  std::deque<std::vector<int32_t>> kept_integers_;
  std::deque<std::vector<float>> kept_floats_;
};

}  // namespace plumbline::test
