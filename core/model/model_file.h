// model_file.h: an opened model: a loader's table and its object, as one value.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "core/model/hyper_parameters.h"
#include "plumb/ext/loader.h"

namespace plumbline::model {

class ModelFile {
 public:
  /// Opens path with a loader and indexes its tensors. The table must outlive the result.
  static Result<ModelFile> open(const plumb_loader& loader, const plumb_host* host,
                                const std::string& path);

  ModelFile(ModelFile&& other) noexcept;
  ModelFile& operator=(ModelFile&&) = delete;
  ~ModelFile();

  const std::string& path() const { return path_; }
  const plumb_metadata& metadata() const { return *loader_->metadata(model_); }
  Result<HyperParameters> hyper_parameters() const;
  /// As the loader states them: plumb/ext/loader.h.
  Result<std::string_view> hyper_parameters_json() const;

  struct Entry {
    plumb_tensor tensor;
    uint64_t index;
  };
  /// Null if there is none of that name.
  const Entry* find(std::string_view tensor_name) const;
  const std::unordered_map<std::string_view, Entry>& tensors() const { return tensors_; }
  /// The pages of this tensor will not be read again.
  void done_with(const Entry& entry) const { loader_->done_with(model_, entry.index); }

 private:
  ModelFile(const plumb_loader& loader, void* model, std::string path)
      : loader_(&loader), model_(model), path_(std::move(path)) {}

  const plumb_loader* loader_;
  void* model_;
  std::string path_;
  std::unordered_map<std::string_view, Entry> tensors_;  // names lie in the mapping
};

}  // namespace plumbline::model
