#include "core/base/os/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace plumbline::os {

uint64_t peak_memory_bytes() {
  struct rusage usage {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

uint64_t physical_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
}

Result<BigBuffer> BigBuffer::allocate(uint64_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return Error{PLUMB_INTERNAL,
                 "cannot get " + std::to_string(bytes) + " bytes: " + std::strerror(errno)};
  }
  ::madvise(data, bytes, MADV_HUGEPAGE);  // a wish: small pages do too
  BigBuffer buffer;
  buffer.data_ = data;
  buffer.bytes_ = bytes;
  return buffer;
}

BigBuffer::BigBuffer(BigBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

BigBuffer::~BigBuffer() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace plumbline::os
