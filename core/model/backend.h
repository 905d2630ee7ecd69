// backend.h: one instance of a kernels plugin, with everything that was made through it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plumb/ext/kernels.h"
#include "plumb/sdk/result.h"

namespace plumbline::model {

/// Owns the instance, its workers, buffers, weights and KV caches, and frees them in the right
/// order.
class Backend {
 public:
  /// id: the plugin's. options_json: the backend's own options. variant: one of the plugin's, or
  /// empty for its best.
  static Result<std::unique_ptr<Backend>> create(std::string id, const plumb_kernels& table,
                                                 const plumb_host* host, uint32_t n_threads,
                                                 const std::string& options_json,
                                                 const std::string& variant);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  const std::string& id() const { return id_; }
  const plumb_kernels& table() const { return *table_; }
  void* self() const { return self_; }
  plumb_handle worker(uint32_t thread) const { return workers_[thread]; }

  /// A whole new buffer.
  Result<plumb_slice> alloc(uint64_t bytes);
  /// Prepares a tensor into a new buffer. *in_place: the tensor must stay mapped. [any-thread]
  Result<plumb_handle> prepare(const plumb_tensor& tensor, uint32_t uses, bool* in_place);
  Result<plumb_handle> create_kv(const plumb_kv_shape& shape);

  Result<void> read(plumb_slice from, void* to, uint64_t bytes) const;
  Result<void> write(plumb_slice to, const void* from, uint64_t bytes) const;
  /// The slice as host memory; null if this backend's memory is elsewhere.
  void* host_pointer(plumb_slice slice) const {
    return table_->host_pointer != nullptr ? table_->host_pointer(self_, slice) : nullptr;
  }

  uint64_t allocated_bytes() const { return allocated_bytes_; }

 private:
  Backend(std::string id, const plumb_kernels& table, void* self)
      : id_(std::move(id)), table_(&table), self_(self) {}

  std::string id_;
  const plumb_kernels* table_;
  void* self_;
  std::vector<plumb_handle> workers_;
  std::vector<plumb_handle> buffers_;
  std::vector<plumb_handle> weights_;
  std::vector<plumb_handle> kvs_;
  uint64_t allocated_bytes_ = 0;
  std::mutex mutex_;  // guards the lists during a parallel prepare
};

}  // namespace plumbline::model
