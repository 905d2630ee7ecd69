#include "core/model/model_file.h"

#include <utility>

#include "plumb/sdk/abi.h"

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
    file.tensors_.emplace(to_view(entry.tensor.name), entry);
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

}  // namespace plumbline::model
