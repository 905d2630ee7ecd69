// linear_memory.h: the memory that all instances of the module share, cut into pieces for the host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "backends/cpu/memory.h"

struct wasmtime_sharedmemory;

namespace plumbline::wasm {

/// Up to 4 GiB at a base that never moves, grown where pieces ask for it. Pieces are whole pages,
/// the first place that fits; zeroed, and zero again after they were given back. Address 0 is in no
/// piece. Outlives its pieces. [any-thread]
class LinearMemory {
 public:
  /// first_free: where the module's own data ends. Takes the memory.
  LinearMemory(wasmtime_sharedmemory* memory, uint64_t first_free);
  ~LinearMemory();
  LinearMemory(const LinearMemory&) = delete;
  LinearMemory& operator=(const LinearMemory&) = delete;

  /// Nothing if there is no room.
  std::optional<cpu::Memory> allocate(uint64_t bytes);
  /// The lowest page traps on every access.
  std::optional<cpu::Memory> allocate_guarded(uint64_t bytes);
  /// [offset, offset + bytes) of a file, mapped shared: the module sees the file's own pages.
  /// Nothing if the file is shorter than that, too.
  std::optional<cpu::Memory> map_file(int32_t fd, uint64_t offset, uint64_t bytes);
  /// A file in memory, which another process can map.
  std::optional<cpu::Memory> allocate_shared(uint64_t bytes);

  /// Where the module finds what lies at this address of the host. Nothing if it lies outside.
  std::optional<uint32_t> offset_of(uint64_t host_address) const {
    const uint64_t offset = host_address - reinterpret_cast<uintptr_t>(base_);
    return offset < kBytesMax ? std::optional(static_cast<uint32_t>(offset)) : std::nullopt;
  }

  /// The last 64 KiB stay out of reach, so that the end of every piece is an address of 32 bits.
  static constexpr uint64_t kPagesMax = 65535;
  static constexpr uint64_t kPageBytes = 65536;
  static constexpr uint64_t kBytesMax = kPagesMax * kPageBytes;

 private:
  struct Piece {
    uint64_t bytes;
    int fd;  // of shared memory, or -1
  };

  /// Whole pages at a multiple of `alignment`. Nothing if there is no room.
  std::optional<uint64_t> reserve(uint64_t bytes, uint64_t alignment);
  bool grow_to(uint64_t end);
  /// Puts pages of a file over those of a piece.
  std::optional<cpu::Memory> map(int fd, uint64_t offset, uint64_t bytes);
  cpu::Memory piece_at(uint64_t offset, uint64_t bytes);
  void give_back(uint8_t* data);

  wasmtime_sharedmemory* memory_;
  uint8_t* base_;
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> free_;  // offset to bytes; no two touch
  std::map<uint64_t, Piece> pieces_;
};

}  // namespace plumbline::wasm
