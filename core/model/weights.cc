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
  for (uint32_t index = 0; index < needs_.size(); ++index) {
    if (needs_[index].entry == entry && needs_[index].backend == &backend) {
      needs_[index].uses |= use;
      return index;
    }
  }
  needs_.push_back({tensor, entry, &backend, use, 0});
  return static_cast<uint32_t>(needs_.size() - 1);
}

Result<void> Weights::prepare(ThreadPool& pool) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::optional<Error>> errors(needs_.size());
  std::vector<char> in_place(needs_.size(), 0);
  pool.run([&](uint32_t) {
    for (size_t i = next++; i < needs_.size() && !failed; i = next++) {
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
    }
  });
  for (auto& error : errors) {
    if (error) return std::move(*error);
  }
  for (size_t i = 0; i < needs_.size(); ++i) {
    const auto still_mapped = [&](size_t j) { return needs_[j].entry == needs_[i].entry && in_place[j]; };
    bool keep = false;
    for (size_t j = 0; j < needs_.size() && !keep; ++j) keep = still_mapped(j);
    if (!keep) file_->done_with(*needs_[i].entry);
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
