// model_file.h: an opened model: a loader's table and its object, as one value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/hyper_parameters.h"
#include "plumb/ext/loader.h"
#include "plumb/ext/model_writer.h"

namespace plumbline::model {

class ModelFile {
 public:
  /// Opens path with a loader and indexes its tensors. The table must outlive the result.
  /// Fails as plumb_loader.open does, and CORRUPT if two tensors have one name.
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
  /// As they stand in the file.
  std::vector<const Entry*> tensors_in_order() const;
  /// The pages of this tensor will not be read again.
  void done_with(const Entry& entry) const { loader_->done_with(model_, entry.index); }
  /// Nor these bytes of its data.
  void done_with(const Entry& entry, uint64_t offset, uint64_t bytes) const {
    if (PLUMB_HAS(loader_, plumb_loader, done_with_bytes) && loader_->done_with_bytes != nullptr)
      loader_->done_with_bytes(model_, entry.index, offset, bytes);
  }

  /// A file with the same tensors in other formats: its beginning, and where the tensors go, in
  /// order.
  struct Layout {
    std::vector<uint8_t> head;
    std::vector<uint64_t> offsets;
    uint64_t file_bytes;
  };
  /// writer: of the plugin that opened this file. Fails as plumb_model_writer.layout does, and
  /// INTERNAL where it answers with a file in which the tensors do not fit.
  Result<Layout> layout(const plumb_model_writer& writer, plumb_format main_format,
                        std::span<const plumb_format> formats) const;

 private:
  ModelFile(const plumb_loader& loader, void* model, std::string path)
      : loader_(&loader), model_(model), path_(std::move(path)) {}

  const plumb_loader* loader_;
  void* model_;
  std::string path_;
  std::unordered_map<std::string_view, Entry> tensors_;  // names lie in the mapping
};

}  // namespace plumbline::model
