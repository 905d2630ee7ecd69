// state.h: what an instance owns: the inner backend, and what it must know of the objects made
// there. Handles of buffers, weights and caches are the inner's own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "facts.h"
#include "fault.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/kernels/handle_table.h"

namespace plumbline::fault {

/// The instance's part of the config.
struct Options {
  std::string inner = "auto";  // a kernels plugin
  std::string variant = "auto";  // of it
  const Fault* fault = nullptr;
  double amount = 0;
};

/// Fails INVALID_CONFIG: seen, expected, and the nearest name.
Result<Options> parse_options(std::string_view json);

/// One thread's. What it runs a whole op with, sized by plan: 64-byte pieces of memory here and in
/// the inner backend.
struct Worker {
  plumb_handle inner = 0;
  std::vector<std::byte> here;
  plumb_slice there{};
  uint64_t bytes = 0;
};

/// Live objects of one kind by the inner's handle. [any-thread]
template <typename T>
class Known {
 public:
  void add(plumb_handle handle, T object) {
    const std::lock_guard lock(mutex_);
    objects_.insert_or_assign(handle, std::move(object));
  }
  void remove(plumb_handle handle) {
    const std::lock_guard lock(mutex_);
    objects_.erase(handle);
  }
  /// Null if unknown. The object stays where it is until remove.
  const T* find(plumb_handle handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : &found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<plumb_handle, T> objects_;
};

struct State {
  const plumb_kernels* inner = nullptr;
  void* self = nullptr;
  const Fault* fault = nullptr;
  double amount = 0;
  Known<Weight> weights;
  Known<Cache> caches;
  HandleTable<Worker> workers{1};
  std::mutex plan_mutex;
  uint64_t planned_bytes = 0;
  bool was_asked = false;  // of an op that is to be placed here
  bool has_target = false;  // one of a kind that the fault breaks was among them

  OpFacts facts(const plumb_op& op) const;
};

// The functions of the table that do more than ask the inner backend.
plumb_status prepare_bytes(State& state, const plumb_tensor* tensor, uint32_t uses, uint64_t* bytes,
                           plumb_error* error);
plumb_status prepare(State& state, const plumb_tensor* tensor, uint32_t uses,
                     plumb_slice destination, plumb_handle* weight, plumb_error* error);
plumb_status supports(State& state, const plumb_op_query* query, plumb_error* error);
plumb_status create_worker(State& state, uint32_t index, plumb_handle* worker, plumb_error* error);
plumb_status plan(State& state, const plumb_op* ops, uint32_t n_ops, plumb_error* error);
plumb_status execute(State& state, const plumb_op* ops, uint32_t n_ops, plumb_handle worker,
                     uint32_t part, uint32_t n_parts, plumb_error* error);

}  // namespace plumbline::fault
