// handle_table.h: objects behind 64-bit handles that are checked before use, found without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "plumb/base.h"

namespace plumbline {

/// Owns objects of one kind. A handle is kind (8 bits), generation (24), slot + 1 (32): one of
/// another kind, of a removed object or out of thin air finds nothing. Slots never move, so find
/// takes no lock: kernels look up every weight of every op. [any-thread]
template <typename T>
class HandleTable {
 public:
  explicit HandleTable(uint8_t kind) : kind_(kind) {}
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable() {
    for_each([](T& object) { delete &object; });
    for (auto& chunk : chunks_) delete chunk.load();
  }

  /// 0 if the table is full.
  plumb_handle add(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    for (uint32_t at = 0; at < kChunks * kChunkSlots; ++at) {
      auto& chunk = chunks_[at / kChunkSlots];
      if (chunk.load() == nullptr) chunk.store(new Chunk());
      Slot& slot = (*chunk.load())[at % kChunkSlots];
      if (slot.handle.load() != 0) continue;
      slot.generation = (slot.generation + 1) & 0xffffffu;
      const plumb_handle handle =
          uint64_t{kind_} << 56 | uint64_t{slot.generation} << 32 | (uint64_t{at} + 1);
      slot.object = object.release();
      slot.handle.store(handle, std::memory_order_release);
      return handle;
    }
    return 0;
  }

  /// The object, or null. It lives until remove.
  T* find(plumb_handle handle) const {
    Slot* slot = slot_of(handle);
    return slot == nullptr || slot->handle.load(std::memory_order_acquire) != handle ? nullptr
                                                                                     : slot->object;
  }

  void remove(plumb_handle handle) {
    const std::lock_guard lock(mutex_);
    Slot* slot = slot_of(handle);
    if (handle == 0 || slot == nullptr || slot->handle.load() != handle) return;
    slot->handle.store(0);
    delete slot->object;
  }

  template <typename Visit>
  void for_each(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    for (auto& chunk : chunks_) {
      if (chunk.load() == nullptr) break;
      for (Slot& slot : *chunk.load()) {
        if (slot.handle.load() != 0) visit(*slot.object);
      }
    }
  }

 private:
  static constexpr uint32_t kChunks = 256;
  static constexpr uint32_t kChunkSlots = 256;

  struct Slot {
    std::atomic<plumb_handle> handle{0};
    T* object = nullptr;
    uint32_t generation = 0;
  };
  using Chunk = std::array<Slot, kChunkSlots>;

  Slot* slot_of(plumb_handle handle) const {
    const uint64_t at = (handle & 0xffffffffu) - 1;
    if (at >= kChunks * kChunkSlots) return nullptr;
    Chunk* chunk = chunks_[at / kChunkSlots].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[at % kChunkSlots];
  }

  const uint8_t kind_;
  std::mutex mutex_;
  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
};

}  // namespace plumbline
