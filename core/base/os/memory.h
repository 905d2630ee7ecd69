// memory.h: big pages, how much memory this process took, and how much there is.
#pragma once

#include <cstdint>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// The most memory that this process has had at once, in bytes; 0 if the system does not tell.
uint64_t peak_memory_bytes();

/// The machine's memory, in bytes; the most there can be if the system does not tell.
uint64_t physical_memory_bytes();

/// Zeroed memory on huge pages where the system has them. Move-only.
class BigBuffer {
 public:
  static Result<BigBuffer> allocate(uint64_t bytes);
  BigBuffer() = default;
  BigBuffer(BigBuffer&& other) noexcept;
  BigBuffer& operator=(BigBuffer&&) = delete;
  ~BigBuffer();
  void* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace plumbline::os
