#include "core/model/backend.h"

#include "plumb/sdk/abi.h"
#include "plumb/sdk/blocks.h"

namespace plumbline::model {

Result<std::unique_ptr<Backend>> Backend::create(std::string id, const plumb_kernels& table,
                                                 const plumb_host* host, uint32_t n_threads,
                                                 const std::string& options_json,
                                                 const std::string& variant) {
  ErrorBuffer error;
  auto config = make_abi<plumb_kernels_config>();
  config.n_workers_max = n_threads;
  config.options_json = to_abi(options_json);
  config.variant = to_abi(variant);
  void* self = nullptr;
  if (const plumb_status status = table.create(host, &config, &self, error); status != PLUMB_OK) {
    return error.take(status).at(id);
  }
  std::unique_ptr<Backend> backend(new Backend(std::move(id), table, self));
  for (uint32_t index = 0; index < n_threads; ++index) {
    plumb_handle worker = 0;
    if (const plumb_status status = table.worker_create(self, index, &worker, error);
        status != PLUMB_OK) {
      return error.take(status).at(backend->id());
    }
    backend->workers_.push_back(worker);
  }
  return backend;
}

Backend::~Backend() {
  for (const plumb_handle kv : kvs_) table_->kv_destroy(self_, kv);
  for (const plumb_handle weight : weights_) table_->release(self_, weight);
  for (const plumb_handle worker : workers_) table_->worker_destroy(self_, worker);
  for (const plumb_handle buffer : buffers_) table_->free(self_, buffer);
  table_->destroy(self_);
}

std::string Backend::numerics() const {
  const bool is_told =
      PLUMB_HAS(table_, plumb_kernels, numerics_of) && table_->numerics_of != nullptr;
  return to_string(is_told ? table_->numerics_of(self_) : table_->numerics);
}

Result<plumb_slice> Backend::alloc(uint64_t bytes) {
  ErrorBuffer error;
  plumb_handle buffer = 0;
  if (const plumb_status status = table_->alloc(self_, bytes, 0, &buffer, error);
      status != PLUMB_OK) {
    return error.take(status).at(id_);
  }
  std::lock_guard lock(mutex_);
  buffers_.push_back(buffer);
  allocated_bytes_ += bytes;
  return plumb_slice{buffer, 0};
}

Result<uint64_t> Backend::prepare_bytes(const plumb_tensor& tensor, uint32_t uses) {
  ErrorBuffer error;
  uint64_t bytes = 0;
  const plumb_status status = table_->prepare_bytes(self_, &tensor, uses, &bytes, error);
  if (status != PLUMB_OK) return error.take(status).at(id_ + ": tensor " + to_string(tensor.name));
  return bytes;
}

Result<plumb_handle> Backend::prepare_by(Prepare function, const plumb_tensor& tensor,
                                         uint32_t uses, plumb_slice destination) {
  ErrorBuffer error;
  plumb_handle weight = 0;
  const plumb_status status = function(self_, &tensor, uses, destination, &weight, error);
  if (status != PLUMB_OK) return error.take(status).at(id_ + ": tensor " + to_string(tensor.name));
  std::lock_guard lock(mutex_);
  weights_.push_back(weight);
  return weight;
}

Result<plumb_handle> Backend::prepare(const plumb_tensor& tensor, uint32_t uses,
                                      plumb_slice destination) {
  return prepare_by(table_->prepare, tensor, uses, destination);
}

bool Backend::takes_pieces() const {
  return PLUMB_HAS(table_, plumb_kernels, prepare_rows) && table_->prepare_begin != nullptr;
}

Result<plumb_handle> Backend::prepare_begin(const plumb_tensor& tensor, uint32_t uses,
                                            plumb_slice destination) {
  return prepare_by(table_->prepare_begin, tensor, uses, destination);
}

Result<void> Backend::prepare_rows(plumb_handle weight, const plumb_tensor& tensor,
                                   uint64_t first_row, uint64_t n_rows) {
  ErrorBuffer error;
  const plumb_status status =
      table_->prepare_rows(self_, weight, &tensor, first_row, n_rows, error);
  if (status != PLUMB_OK) return error.take(status).at(id_ + ": tensor " + to_string(tensor.name));
  return {};
}

Result<plumb_handle> Backend::create_kv(const plumb_kv_shape& shape) {
  ErrorBuffer error;
  plumb_handle kv = 0;
  if (const plumb_status status = table_->kv_create(self_, &shape, &kv, error);
      status != PLUMB_OK) {
    return error.take(status).at(id_ + ": KV cache in " + std::string(format_name(shape.format)));
  }
  kvs_.push_back(kv);
  return kv;
}

void Backend::destroy_kv(plumb_handle kv) {
  table_->kv_destroy(self_, kv);
  std::erase(kvs_, kv);
}

Result<void> Backend::read(plumb_slice from, void* to, uint64_t bytes) const {
  ErrorBuffer error;
  const plumb_status status = table_->read(self_, from, to, bytes, error);
  if (status != PLUMB_OK) return error.take(status).at(id_);
  return {};
}

Result<void> Backend::write(plumb_slice to, const void* from, uint64_t bytes) const {
  ErrorBuffer error;
  const plumb_status status = table_->write(self_, to, from, bytes, error);
  if (status != PLUMB_OK) return error.take(status).at(id_);
  return {};
}

}  // namespace plumbline::model
