// handle_table.h: objects behind 64-bit handles that are checked before use.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "plumb/base.h"

namespace plumbline::reference {

/// Owns objects of one kind. A handle is kind (8 bits), generation (24), slot + 1 (32): one of
/// another kind, of a freed object or out of thin air finds nothing. [any-thread]
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(uint8_t kind) : kind_(kind) {}

  plumb_handle add(std::unique_ptr<T> object) {
    const std::unique_lock lock(mutex_);
    uint32_t slot_at = 0;
    while (slot_at < slots_.size() && slots_[slot_at].object != nullptr) ++slot_at;
    if (slot_at == slots_.size()) slots_.emplace_back();
    slots_[slot_at].object = std::move(object);
    return handle_of(slot_at);
  }

  /// The object, or null. It lives until remove.
  T* find(plumb_handle handle) const {
    const std::shared_lock lock(mutex_);
    const uint64_t slot_at = (handle & 0xffffffffu) - 1;
    if (slot_at >= slots_.size() || handle != handle_of(static_cast<uint32_t>(slot_at)))
      return nullptr;
    return slots_[slot_at].object.get();
  }

  void remove(plumb_handle handle) {
    const std::unique_lock lock(mutex_);
    const uint64_t slot_at = (handle & 0xffffffffu) - 1;
    if (slot_at >= slots_.size() || handle != handle_of(static_cast<uint32_t>(slot_at))) return;
    slots_[slot_at].object.reset();
    slots_[slot_at].generation = (slots_[slot_at].generation + 1) & 0xffffffu;
  }

  template <typename Visit>
  void for_each(Visit&& visit) {
    const std::unique_lock lock(mutex_);
    for (Slot& slot : slots_) {
      if (slot.object != nullptr) visit(*slot.object);
    }
  }

 private:
  struct Slot {
    std::unique_ptr<T> object;
    uint32_t generation = 0;
  };

  plumb_handle handle_of(uint32_t slot_at) const {
    return uint64_t{kind_} << 56 | uint64_t{slots_[slot_at].generation} << 32 |
           (uint64_t{slot_at} + 1);
  }

  const uint8_t kind_;
  mutable std::shared_mutex mutex_;
  std::vector<Slot> slots_;
};

}  // namespace plumbline::reference
