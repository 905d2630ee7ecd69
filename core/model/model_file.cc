#include "core/model/model_file.h"

#include <algorithm>
#include <utility>

#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::model {

Result<ModelFile> ModelFile::open(const plumb_loader& loader, const plumb_host* host,
                                  const std::string& path) {
  ErrorBuffer error;
  void* model = nullptr;
  if (const plumb_status status = loader.open(host, to_abi(path), &model, error);
      status != PLUMB_OK) {
    return error.take(status);
  }
  ModelFile file(loader, model, path);
  const uint64_t n_tensors = loader.n_tensors(model);
  for (uint64_t index = 0; index < n_tensors; ++index) {
    Entry entry{make_abi<plumb_tensor>(), index};
    if (const plumb_status status = loader.tensor_at(model, index, &entry.tensor, error);
        status != PLUMB_OK) {
      return error.take(status).at(path);
    }
    if (!file.tensors_.emplace(to_view(entry.tensor.name), entry).second) {
      return Error{PLUMB_CORRUPT, path + ": tensor " + to_string(entry.tensor.name) +
                                      " is there twice, again as number " + std::to_string(index)};
    }
  }
  return file;
}

ModelFile::ModelFile(ModelFile&& other) noexcept
    : loader_(other.loader_),
      model_(std::exchange(other.model_, nullptr)),
      path_(std::move(other.path_)),
      tensors_(std::move(other.tensors_)) {}

ModelFile::~ModelFile() {
  if (model_ != nullptr) loader_->close(model_);
}

Result<std::string_view> ModelFile::hyper_parameters_json() const {
  ErrorBuffer error;
  plumb_str json{};
  if (const plumb_status status = loader_->hyper_parameters(model_, &json, error);
      status != PLUMB_OK) {
    return error.take(status).at(path_);
  }
  return to_view(json);
}

Result<HyperParameters> ModelFile::hyper_parameters() const {
  PLUMB_ASSIGN(const std::string_view json, hyper_parameters_json());
  auto parsed = HyperParameters::parse(json);
  if (!parsed) return std::move(parsed).error().at(path_);
  return parsed;
}

const ModelFile::Entry* ModelFile::find(std::string_view tensor_name) const {
  const auto it = tensors_.find(tensor_name);
  return it == tensors_.end() ? nullptr : &it->second;
}

std::vector<const ModelFile::Entry*> ModelFile::tensors_in_order() const {
  std::vector<const Entry*> entries;
  for (const auto& [name, entry] : tensors_) entries.push_back(&entry);
  std::ranges::sort(entries, {}, &Entry::index);
  return entries;
}

Result<ModelFile::Layout> ModelFile::layout(const plumb_model_writer& writer,
                                            plumb_format main_format,
                                            std::span<const plumb_format> formats) const {
  Layout layout;
  layout.offsets.resize(formats.size());
  auto request = make_abi<plumb_file_layout>();
  request.main_format = main_format;
  request.n_tensors = formats.size();
  request.formats = formats.data();
  request.offsets = layout.offsets.data();
  ErrorBuffer error;
  plumb_status status = writer.layout(model_, &request, error);
  if (status == PLUMB_MORE_SPACE) {
    layout.head.resize(request.head_bytes);
    request.head = layout.head.data();
    request.head_capacity_bytes = layout.head.size();
    status = writer.layout(model_, &request, error);
  }
  if (status != PLUMB_OK) return error.take(status).at(path_);
  layout.file_bytes = request.file_bytes;
  uint64_t end = layout.head.size();
  bool fits = request.head_bytes == end;
  for (const Entry* entry : tensors_in_order()) {
    const auto bytes =
        tensor_bytes(formats[entry->index], std::span(entry->tensor.dims, entry->tensor.rank));
    const uint64_t offset = layout.offsets[entry->index];
    fits = fits && bytes && offset >= end && *bytes <= UINT64_MAX - offset;
    if (fits) end = offset + *bytes;
  }
  if (!fits || end > layout.file_bytes)
    return Error{PLUMB_INTERNAL, path_ + ": the writer's layout has no room for the tensors"};
  return layout;
}

}  // namespace plumbline::model
