// memory.h: pages from the operating system: private, shared through a descriptor, or a file's; or
// a piece of memory that an engine holds.
#pragma once

#include <cstdint>
#include <optional>

namespace plumbline::cpu {

/// Zeroed memory, aligned to a page at least; big pieces ask for huge pages. Moves, never copies.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  /// Nothing if the system refuses.
  static std::optional<Memory> anonymous(uint64_t bytes);
  /// Behind a memfd, so that another process can map it through /proc or an inherited descriptor.
  static std::optional<Memory> shared(uint64_t bytes);
  /// [offset, offset + bytes) of a descriptor, mapped shared. Nothing if the file is shorter than
  /// that.
  static std::optional<Memory> of_file(int32_t fd, uint64_t offset, uint64_t bytes);
  /// `bytes` at `data`, given back by release(owner, data).
  using Release = void (*)(void* owner, uint8_t* data);
  static Memory held_by(void* owner, uint8_t* data, uint64_t bytes, Release release);

  /// For memory of which perhaps little will be touched: a huge page is there whole at the first
  /// touch.
  void prefer_small_pages() const;

  uint8_t* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static std::optional<Memory> map(uint64_t bytes, int flags, int fd, uint64_t offset);

  uint8_t* data_ = nullptr;
  uint64_t bytes_ = 0;
  void* mapping_ = nullptr;
  uint64_t mapping_bytes_ = 0;
  int fd_ = -1;
  void* owner_ = nullptr;
  Release release_ = nullptr;
};

}  // namespace plumbline::cpu
