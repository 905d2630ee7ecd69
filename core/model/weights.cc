#include "core/model/weights.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>

namespace plumbline::model {
namespace {

std::string dims_text(const uint64_t* dims, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i) text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace

Result<uint32_t> Weights::need(const std::string& tensor, Backend& backend, uint32_t use,
                               std::vector<uint64_t> dims) {
  const ModelFile::Entry* entry = file_->find(tensor);
  if (entry == nullptr) {
    return Error{PLUMB_CORRUPT, file_->path() + ": tensor " + tensor + " is missing, expected " +
                                    dims_text(dims.data(), dims.size())};
  }
  const plumb_tensor& found = entry->tensor;
  if (found.rank != dims.size() || !std::equal(dims.begin(), dims.end(), found.dims)) {
    return Error{PLUMB_CORRUPT, file_->path() + ": tensor " + tensor + ": expected " +
                                    dims_text(dims.data(), dims.size()) + ", found " +
                                    dims_text(found.dims, std::min<size_t>(found.rank, 4))};
  }
  const auto [known, is_new] =
      need_of_.try_emplace({entry, &backend}, static_cast<uint32_t>(needs_.size()));
  if (is_new) needs_.push_back({entry, &backend, 0, 0});
  needs_[known->second].uses |= use;
  return known->second;
}

Result<void> Weights::prepare(ThreadPool& pool) {
  std::atomic<bool> failed{false};
  std::vector<std::optional<Error>> errors(needs_.size());
  std::vector<char> in_place(needs_.size(), 0);
  pool.run(static_cast<uint32_t>(needs_.size()), [&](uint32_t, uint32_t i) {
    if (failed) return;
    Need& need = needs_[i];
    bool kept = false;
    auto handle = need.backend->prepare(need.entry->tensor, need.uses, &kept);
    if (handle) {
      need.handle = *handle;
      in_place[i] = kept;
    } else {
      errors[i] = std::move(handle).error();
      failed = true;
    }
  });
  for (auto& error : errors) {
    if (error) return std::move(*error);
  }
  std::set<const ModelFile::Entry*> read, read_on;
  for (size_t i = 0; i < needs_.size(); ++i) (in_place[i] ? read_on : read).insert(needs_[i].entry);
  for (const ModelFile::Entry* entry : read) {
    if (!read_on.contains(entry)) file_->done_with(*entry);
  }
  return {};
}

std::vector<std::string> Weights::unused() const {
  std::set<const ModelFile::Entry*> used;
  for (const Need& need : needs_) used.insert(need.entry);
  std::vector<std::string> names;
  for (const auto& [name, entry] : file_->tensors()) {
    if (!used.contains(&entry)) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

uint64_t Weights::source_bytes() const {
  std::set<const ModelFile::Entry*> used;
  uint64_t bytes = 0;
  for (const Need& need : needs_) {
    if (used.insert(need.entry).second) bytes += need.entry->tensor.data.bytes;
  }
  return bytes;
}

}  // namespace plumbline::model
