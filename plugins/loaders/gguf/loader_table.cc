#include "loader_table.h"

#include <memory>

#include "model.h"
#include "translation.h"

namespace plumbline::loaders::gguf {
namespace {

plumb_status PLUMB_CALL get_value(void* context, plumb_str key, plumb_value* value) {
  const Entry* entry = static_cast<const Metadata*>(context)->find(to_view(key));
  *value = entry != nullptr ? entry->value : make_abi<plumb_value>();
  if (entry == nullptr) return PLUMB_NOT_FOUND;
  return value->type == PLUMB_VALUE_NONE ? PLUMB_UNSUPPORTED : PLUMB_OK;
}

plumb_str PLUMB_CALL key_at(void* context, uint64_t index) {
  const auto& entries = static_cast<const Metadata*>(context)->entries();
  return index < entries.size() ? to_abi(entries[index].key) : plumb_str{};
}

plumb_status PLUMB_CALL recognise(plumb_str, plumb_bytes head, plumb_error* error) {
  return guarded(error, [&]() -> plumb_status {
    const auto done = check_version(head);
    if (done) return PLUMB_OK;
    return failf(error, PLUMB_UNSUPPORTED, "%s", done.error().message.c_str());
  });
}

plumb_status PLUMB_CALL open(const plumb_host* host, plumb_str path, void** out,
                             plumb_error* error) {
  *out = nullptr;
  return guarded(error, [&]() -> plumb_status {
    auto mapped = HostFile::map(*host, to_string(path));
    if (!mapped) return fail(error, mapped.error());
    auto model = std::make_unique<Model>(*std::move(mapped));
    auto file = File::parse(model->mapping.bytes());
    if (!file) return fail(error, std::move(file).error().at(to_string(path)));
    model->file = *std::move(file);
    model->hyper_parameters = hyper_parameters(model->file);
    model->metadata.context = const_cast<Metadata*>(&model->file.metadata());
    model->metadata.get = get_value;
    model->metadata.key_at = key_at;
    *out = model.release();
    return PLUMB_OK;
  });
}

void PLUMB_CALL close(void* self) {
  delete static_cast<Model*>(self);
}

plumb_status PLUMB_CALL get_hyper_parameters(void* self, plumb_str* json, plumb_error* error) {
  const auto& result = model_of(self).hyper_parameters;
  if (!result) return fail(error, result.error());
  *json = to_abi(*result);
  return PLUMB_OK;
}

const plumb_metadata* PLUMB_CALL get_metadata(void* self) {
  return &model_of(self).metadata;
}
uint64_t PLUMB_CALL n_tensors(void* self) {
  return model_of(self).file.tensors().size();
}

plumb_status PLUMB_CALL tensor_at(void* self, uint64_t index, plumb_tensor* tensor,
                                  plumb_error* error) {
  const auto& tensors = model_of(self).file.tensors();
  if (index >= tensors.size()) {
    return failf(error, PLUMB_INVALID_ARGUMENT, "tensor %llu, expected less than %llu",
                 static_cast<unsigned long long>(index),
                 static_cast<unsigned long long>(tensors.size()));
  }
  *tensor = tensors[index];
  return PLUMB_OK;
}

void PLUMB_CALL done_with(void* self, uint64_t index) {
  const Model& model = model_of(self);
  if (index >= model.file.tensors().size()) return;
  const plumb_tensor& tensor = model.file.tensors()[index];
  model.mapping.drop(tensor.file_offset, tensor.data.bytes);
}

void PLUMB_CALL done_with_bytes(void* self, uint64_t index, uint64_t offset, uint64_t bytes) {
  const Model& model = model_of(self);
  if (index >= model.file.tensors().size()) return;
  const plumb_tensor& tensor = model.file.tensors()[index];
  if (offset > tensor.data.bytes || bytes > tensor.data.bytes - offset) return;
  model.mapping.drop(tensor.file_offset + offset, bytes);
}

constexpr plumb_loader kTable = {
    .struct_bytes = sizeof(plumb_loader),
    .reserved = 0,
    .recognise = recognise,
    .open = open,
    .close = close,
    .hyper_parameters = get_hyper_parameters,
    .metadata = get_metadata,
    .n_tensors = n_tensors,
    .tensor_at = tensor_at,
    .done_with = done_with,
    .done_with_bytes = done_with_bytes,
};

}  // namespace

const plumb_loader& loader_table() {
  return kTable;
}

}  // namespace plumbline::loaders::gguf
