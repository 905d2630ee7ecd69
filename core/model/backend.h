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
  /// The class of its results: only equal names promise equal bits, and "fast" never does.
  std::string numerics() const;
  void* self() const { return self_; }
  plumb_handle worker(uint32_t thread) const { return workers_[thread]; }

  /// A whole new buffer.
  Result<plumb_slice> alloc(uint64_t bytes);
  /// Room for a prepared tensor; 0: it is used where it lies and must stay mapped.
  Result<uint64_t> prepare_bytes(const plumb_tensor& tensor, uint32_t uses);
  Result<plumb_handle> prepare(const plumb_tensor& tensor, uint32_t uses, plumb_slice destination);
  /// Where the backend takes pieces: a weight whose rows are then prepared by prepare_rows.
  /// [any-thread]
  bool takes_pieces() const;
  Result<plumb_handle> prepare_begin(const plumb_tensor& tensor, uint32_t uses,
                                     plumb_slice destination);
  Result<void> prepare_rows(plumb_handle weight, const plumb_tensor& tensor, uint64_t first_row,
                            uint64_t n_rows);
  Result<plumb_handle> create_kv(const plumb_kv_shape& shape);
  /// Before its time: what is left is destroyed with the backend.
  void destroy_kv(plumb_handle kv);

  Result<void> read(plumb_slice from, void* to, uint64_t bytes) const;
  Result<void> write(plumb_slice to, const void* from, uint64_t bytes) const;
  /// The slice as host memory; null if this backend's memory is elsewhere.
  void* host_pointer(plumb_slice slice) const {
    return table_->host_pointer != nullptr ? table_->host_pointer(self_, slice) : nullptr;
  }

  uint64_t allocated_bytes() const { return allocated_bytes_; }

 private:
  using Prepare = decltype(plumb_kernels::prepare);
  Result<plumb_handle> prepare_by(Prepare function, const plumb_tensor& tensor, uint32_t uses,
                                  plumb_slice destination);
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
