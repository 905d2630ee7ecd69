#include "core/host/thread_checks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "plumb/sdk/abi.h"

namespace plumbline {
namespace {

/// Handles that at most one thread may be inside of.
class Handles {
 public:
  void add(plumb_handle handle) {
    const std::lock_guard lock(mutex_);
    in_use_.emplace(handle, false);
  }
  void remove(plumb_handle handle) {
    const std::lock_guard lock(mutex_);
    in_use_.erase(handle);
  }
  /// False if the handle is unknown or in use.
  bool enter(plumb_handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = in_use_.find(handle);
    return found != in_use_.end() && !std::exchange(found->second, true);
  }
  void leave(plumb_handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = in_use_.find(handle);
    if (found != in_use_.end()) found->second = false;
  }

 private:
  std::mutex mutex_;
  std::map<plumb_handle, bool> in_use_;
};

/// What a checking create hands out as self.
struct Instance {
  explicit Instance(const plumb_kernels* table) : inner(table) {}

  const plumb_kernels* inner;
  void* self = nullptr;
  std::atomic<bool> is_planning{false};
  Handles workers;
  Handles caches;
};

Instance& instance(void* self) {
  return *static_cast<Instance*>(self);
}

/// A checking table with what it stands for. The host comes first: create finds its twin by it.
struct Twin {
  plumb_host host;
  plumb_kernels table;
  const plumb_kernels* inner;
  const plumb_host* inner_host;
};

/// All twins of this process, by the table and host that each stands for. Never destroyed.
class Twins {
 public:
  static Twins& all() {
    static Twins& twins = *new Twins;
    return twins;
  }

  Twin& of(const plumb_kernels& inner, const plumb_host* host, void (*fill)(Twin*)) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = twins_.try_emplace({&inner, host});
    Twin& twin = place->second;
    if (is_new) {
      twin.host = *host;
      twin.inner = &inner;
      twin.inner_host = host;
      fill(&twin);
    }
    return twin;
  }

  const Twin* with_host(const plumb_host* host) {
    const std::lock_guard lock(mutex_);
    for (const auto& [stands_for, twin] : twins_) {
      if (&twin.host == host) return &twin;
    }
    return nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const plumb_kernels*, const plumb_host*>, Twin> twins_;
};

plumb_status broken(plumb_error* error, const char* function, plumb_handle handle) {
  return failf(
      error, PLUMB_INTERNAL,
      "%s: handle %llu is unknown or in use by another thread, expected one thread at a time",
      function, static_cast<unsigned long long>(handle));
}

/// Calls the same function of the plugin.
template <auto Member>
struct Forward;
template <typename R, typename... Args, R (*plumb_kernels::*Member)(void*, Args...)>
struct Forward<Member> {
  static R PLUMB_CALL call(void* self, Args... args) {
    return (instance(self).inner->*Member)(instance(self).self, args...);
  }
};

template <auto... Members>
void forward(plumb_kernels* table) {
  ((table->*Members = table->*Members == nullptr ? nullptr : Forward<Members>::call), ...);
}

/// The functions of one cache: a handle second, an error last.
template <auto Member>
struct OnCache;
template <typename... Args, plumb_status (*plumb_kernels::*Member)(void*, plumb_handle, Args...)>
struct OnCache<Member> {
  static plumb_status PLUMB_CALL call(void* self, plumb_handle kv, Args... args) {
    Instance& checked = instance(self);
    if (!checked.caches.enter(kv))
      return broken(std::get<sizeof...(Args) - 1>(std::tie(args...)), "a KV cache", kv);
    const plumb_status status = (checked.inner->*Member)(checked.self, kv, args...);
    checked.caches.leave(kv);
    return status;
  }
};

plumb_status PLUMB_CALL create(const plumb_host* host, const plumb_kernels_config* config,
                               void** self, plumb_error* error) {
  return guarded(error, [&]() -> plumb_status {
    const Twin* twin = Twins::all().with_host(host);
    if (twin == nullptr) {
      return fail(error, PLUMB_INVALID_ARGUMENT,
                  "create: expected the plumb_host that came with the table");
    }
    auto checked = std::make_unique<Instance>(twin->inner);
    const plumb_status status =
        twin->inner->create(twin->inner_host, config, &checked->self, error);
    if (status == PLUMB_OK) *self = checked.release();
    return status;
  });
}

void PLUMB_CALL destroy(void* self) {
  const std::unique_ptr<Instance> checked(&instance(self));
  checked->inner->destroy(checked->self);
}

plumb_status PLUMB_CALL plan(void* self, const plumb_op* ops, uint32_t n_ops, plumb_error* error) {
  Instance& checked = instance(self);
  if (checked.is_planning.exchange(true))
    return fail(error, PLUMB_INTERNAL, "plan: two threads at once");
  const plumb_status status = checked.inner->plan(checked.self, ops, n_ops, error);
  checked.is_planning = false;
  return status;
}

plumb_status PLUMB_CALL kv_create(void* self, const plumb_kv_shape* shape, plumb_handle* kv,
                                  plumb_error* error) {
  Instance& checked = instance(self);
  const plumb_status status = checked.inner->kv_create(checked.self, shape, kv, error);
  if (status == PLUMB_OK) checked.caches.add(*kv);
  return status;
}

void PLUMB_CALL kv_destroy(void* self, plumb_handle kv) {
  instance(self).caches.remove(kv);
  instance(self).inner->kv_destroy(instance(self).self, kv);
}

plumb_status PLUMB_CALL worker_create(void* self, uint32_t index, plumb_handle* worker,
                                      plumb_error* error) {
  Instance& checked = instance(self);
  const plumb_status status = checked.inner->worker_create(checked.self, index, worker, error);
  if (status == PLUMB_OK) checked.workers.add(*worker);
  return status;
}

void PLUMB_CALL worker_destroy(void* self, plumb_handle worker) {
  instance(self).workers.remove(worker);
  instance(self).inner->worker_destroy(instance(self).self, worker);
}

plumb_status PLUMB_CALL execute(void* self, const plumb_op* ops, uint32_t n_ops,
                                plumb_handle worker, uint32_t part, uint32_t n_parts,
                                plumb_error* error) {
  Instance& checked = instance(self);
  if (!checked.workers.enter(worker)) return broken(error, "execute: worker", worker);
  const plumb_status status =
      checked.inner->execute(checked.self, ops, n_ops, worker, part, n_parts, error);
  checked.workers.leave(worker);
  return status;
}

void fill(Twin* twin) {
  plumb_kernels& table = twin->table;
  // Only what both know: a longer table's tail would be called with the wrong self.
  const uint32_t known_bytes = std::min<uint32_t>(twin->inner->struct_bytes, sizeof table);
  std::memcpy(static_cast<void*>(&table), twin->inner, known_bytes);
  table.struct_bytes = known_bytes;
  using K = plumb_kernels;
  forward<&K::supports, &K::alloc, &K::free, &K::import_fd, &K::read, &K::write, &K::host_pointer,
          &K::prepare_bytes, &K::prepare, &K::release, &K::activation_bytes, &K::submit, &K::fence,
          &K::prepare_begin, &K::prepare_rows, &K::numerics_of>(&table);
  table.create = create;
  table.destroy = destroy;
  table.plan = plan;
  table.kv_create = kv_create;
  table.kv_destroy = kv_destroy;
  table.kv_truncate = OnCache<&K::kv_truncate>::call;
  table.kv_export = OnCache<&K::kv_export>::call;
  table.kv_import = OnCache<&K::kv_import>::call;
  table.worker_create = worker_create;
  table.worker_destroy = worker_destroy;
  table.execute = execute;
}

}  // namespace

CheckedKernels checked_kernels(const plumb_kernels& table, const plumb_host* host) {
  const Twin& twin = Twins::all().of(table, host, fill);
  return {&twin.table, &twin.host};
}

}  // namespace plumbline
