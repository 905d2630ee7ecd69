// Files that name a model file, and the table of plumb.loader/1.
#include <plumb/sdk/abi.h>
#include <plumb/sdk/host_file.h>

#include <memory>
#include <string>

#include "extension.h"

namespace {

using plumbline::fail;
using plumbline::guarded;

constexpr std::string_view kBegin = "model: ";
constexpr size_t kPathBytesMax = 4096;

struct Model {
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() {
    if (loader != nullptr) loader->close(opened);
  }

  const plumb_loader* loader = nullptr;  // the other plugin's, once it has opened the file
  void* opened = nullptr;
};

const Model& model_of(void* model) {
  return *static_cast<const Model*>(model);
}

/// The path that the line names, seen from the folder of the file it stands in.
plumbline::Result<std::string> named_path(std::string_view text, std::string_view file) {
  const size_t end = text.find('\n');
  if (!text.starts_with(kBegin) || end == text.npos || end + 1 != text.size() ||
      end <= kBegin.size() || end > kPathBytesMax || text.find('\0') != text.npos) {
    return plumbline::Error{PLUMB_CORRUPT,
                            std::string(file) + ": expected one line, \"model: PATH\""};
  }
  const std::string_view path = text.substr(kBegin.size(), end - kBegin.size());
  if (path.starts_with('/')) return std::string(path);
  return std::string(file.substr(0, file.rfind('/') + 1)) + std::string(path);
}

plumb_status recognise(plumb_str, plumb_bytes head, plumb_error* error) {
  if (plumbline::to_view(head).starts_with(kBegin)) return PLUMB_OK;
  return fail(error, PLUMB_UNSUPPORTED, "does not begin with \"model: \"");
}

plumb_status open(const plumb_host* host, plumb_str path, void** model, plumb_error* error) {
  return guarded(error, [&] {
    if (host == nullptr || !PLUMB_HAS(host, plumb_host, find_extension) ||
        host->find_extension == nullptr || model == nullptr)
      return fail(error, PLUMB_UNSUPPORTED, "this host hands out no other plugin's table");
    const auto file = plumbline::HostFile::map(*host, plumbline::to_string(path));
    if (!file) return fail(error, file.error());
    const auto target = named_path(file->text(), plumbline::to_view(path));
    if (!target) return fail(error, target.error());

    const void* table = nullptr;
    const plumb_host* inner_host = nullptr;
    const plumb_status found =
        host->find_extension(host->context, plumbline::to_abi(PLUMB_EXT_LOADER),
                             plumbline::to_abi("plumb.loaders.gguf"), &table, &inner_host, error);
    if (found != PLUMB_OK) return found;
    const auto* loader = static_cast<const plumb_loader*>(table);
    auto made = std::make_unique<Model>();
    const plumb_status status =
        loader->open(inner_host, plumbline::to_abi(*target), &made->opened, error);
    if (status != PLUMB_OK) return status;
    made->loader = loader;
    *model = made.release();
    return status;
  });
}

void close(void* model) {
  delete static_cast<Model*>(model);
}

plumb_status hyper_parameters(void* model, plumb_str* json, plumb_error* error) {
  return model_of(model).loader->hyper_parameters(model_of(model).opened, json, error);
}

const plumb_metadata* metadata(void* model) {
  return model_of(model).loader->metadata(model_of(model).opened);
}

uint64_t n_tensors(void* model) {
  return model_of(model).loader->n_tensors(model_of(model).opened);
}

plumb_status tensor_at(void* model, uint64_t index, plumb_tensor* tensor, plumb_error* error) {
  return model_of(model).loader->tensor_at(model_of(model).opened, index, tensor, error);
}

void done_with(void* model, uint64_t index) {
  model_of(model).loader->done_with(model_of(model).opened, index);
}

constexpr plumb_loader kTable = {
    .struct_bytes = sizeof(plumb_loader),
    .reserved = 0,
    .recognise = recognise,
    .open = open,
    .close = close,
    .hyper_parameters = hyper_parameters,
    .metadata = metadata,
    .n_tensors = n_tensors,
    .tensor_at = tensor_at,
    .done_with = done_with,
    .done_with_bytes = nullptr,  // a hint that need not be there
};

}  // namespace

const void* PLUMB_CALL extension(plumb_str id) {
  return plumbline::to_view(id) == PLUMB_EXT_LOADER ? &kTable : nullptr;
}

int32_t PLUMB_CALL rank() {
  return 0;
}
