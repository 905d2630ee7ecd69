#include <algorithm>
#include <limits>

#include "runtime.h"

namespace plumbline::templates::jinja {
namespace {
constexpr std::size_t kLinearSearchLimit = 8;  // below this, comparing a few keys beats hashing one
}

DictBuilder::DictBuilder(Runtime& rt, std::size_t n_expected)
    : rt_(rt), dict_(rt.objects().make<Dict>()) {
  Entry* entries = rt.objects().array<Entry>(n_expected);
  if (entries == nullptr) return;
  dict_->entries = {entries, 0};
  dict_->capacity = static_cast<std::uint32_t>(n_expected);
}

bool DictBuilder::grow() {
  const std::size_t n = dict_->entries.size();
  const std::size_t capacity = std::max<std::size_t>(4, n * 2);
  Entry* entries = rt_.objects().array<Entry>(capacity);
  std::uint32_t* index = nullptr;
  std::size_t n_slots = 0;
  if (capacity > kLinearSearchLimit) {
    for (n_slots = 16; n_slots < capacity * 2;) n_slots *= 2;
    index = rt_.objects().array<std::uint32_t>(n_slots);
  }
  if (entries == nullptr || (n_slots > 0 && index == nullptr)) {
    rt_.fits(std::numeric_limits<std::uint64_t>::max());
    return false;
  }
  std::copy(dict_->entries.begin(), dict_->entries.end(), entries);
  dict_->entries = {entries, n};
  dict_->capacity = static_cast<std::uint32_t>(capacity);
  dict_->index = {index, n_slots};
  for (std::size_t i = 0; n_slots > 0 && i < n; ++i) {
    std::size_t slot = hash(rt_, entries[i].key) & (n_slots - 1);
    while (index[slot] != 0 && rt_.spend(1)) slot = (slot + 1) & (n_slots - 1);
    index[slot] = static_cast<std::uint32_t>(i + 1);
  }
  return true;
}

void DictBuilder::set(const Value& key, const Value& value) {
  if (!rt_.spend(1)) return;
  if (!is_hashable(key)) {
    rt_.fail(ErrorKind::type, "'" + std::string(type_name(key)) + "' cannot be a dict key");
    return;
  }
  const std::uint16_t depth = std::max(depth_of(key), depth_of(value));
  if (depth >= kMaxDataDepth) {
    rt_.fail(ErrorKind::limit,
             "dicts nested deeper than " + std::to_string(kMaxDataDepth) + " levels");
    return;
  }
  dict_->depth = std::max<std::uint16_t>(dict_->depth, static_cast<std::uint16_t>(depth + 1));
  if (const Value* existing = find(rt_, *dict_, key)) {
    *const_cast<Value*>(existing) = value;  // the dict is ours until it is handed out
    return;
  }
  const std::size_t n = dict_->entries.size();
  const bool needs_index = n + 1 > kLinearSearchLimit && dict_->index.empty();
  if ((n == dict_->capacity || needs_index) && !grow()) return;
  dict_->entries = {dict_->entries.data(), n + 1};
  dict_->entries[n] = {key, value};
  if (dict_->index.empty()) return;
  const std::size_t mask = dict_->index.size() - 1;
  std::size_t slot = hash(rt_, key) & mask;
  while (dict_->index[slot] != 0 && rt_.spend(1)) slot = (slot + 1) & mask;
  dict_->index[slot] = static_cast<std::uint32_t>(n + 1);
}

}  // namespace plumbline::templates::jinja
