#include "linear_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasmtime.h>

#include <algorithm>

namespace plumbline::wasm {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;

uint64_t page_bytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

constexpr uint64_t round_up(uint64_t n, uint64_t step) {
  return (n + step - 1) / step * step;
}

/// At least one whole page.
uint64_t whole_pages(uint64_t bytes) {
  return round_up(std::max<uint64_t>(bytes, 1), page_bytes());
}

}  // namespace

LinearMemory::LinearMemory(wasmtime_sharedmemory* memory, uint64_t first_free)
    : memory_(memory), base_(wasmtime_sharedmemory_data(memory)) {
  const uint64_t begin = whole_pages(first_free);
  if (begin < kBytesMax) free_.emplace(begin, kBytesMax - begin);
}

LinearMemory::~LinearMemory() {
  wasmtime_sharedmemory_delete(memory_);
}

bool LinearMemory::grow_to(uint64_t end) {
  const uint64_t held = wasmtime_sharedmemory_data_size(memory_);
  if (end <= held) return true;
  uint64_t previous = 0;
  wasmtime_error_t* error =
      wasmtime_sharedmemory_grow(memory_, (end - held + kPageBytes - 1) / kPageBytes, &previous);
  if (error != nullptr) wasmtime_error_delete(error);
  return error == nullptr;
}

std::optional<uint64_t> LinearMemory::reserve(uint64_t bytes, uint64_t alignment) {
  const std::lock_guard lock(mutex_);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    const auto [begin, size] = *hole;
    const uint64_t address = reinterpret_cast<uintptr_t>(base_) + begin;
    const uint64_t skipped = round_up(address, alignment) - address;
    if (skipped > size || bytes > size - skipped) continue;
    const uint64_t offset = begin + skipped;
    if (!grow_to(offset + bytes)) return std::nullopt;
    free_.erase(hole);
    if (skipped != 0) free_.emplace(begin, skipped);
    if (skipped + bytes < size) free_.emplace(offset + bytes, size - skipped - bytes);
    pieces_.emplace(offset, Piece{bytes, -1});
    return offset;
  }
  return std::nullopt;
}

void LinearMemory::give_back(uint8_t* data) {
  const std::lock_guard lock(mutex_);
  auto piece = std::prev(pieces_.upper_bound(static_cast<uint64_t>(data - base_)));
  uint64_t begin = piece->first;
  uint64_t bytes = piece->second.bytes;
  if (piece->second.fd >= 0) close(piece->second.fd);
  pieces_.erase(piece);
  // Fresh pages instead of the old ones, whatever these were: zeroed, private, accessible.
  if (mmap(base_ + begin, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    return;  // never used again
  }
  const auto next = free_.find(begin + bytes);
  if (next != free_.end()) {
    bytes += next->second;
    free_.erase(next);
  }
  const auto after = free_.lower_bound(begin);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(begin, bytes);
}

cpu::Memory LinearMemory::piece_at(uint64_t offset, uint64_t bytes) {
  return cpu::Memory::held_by(this, base_ + offset, bytes, [](void* owner, uint8_t* data) {
    static_cast<LinearMemory*>(owner)->give_back(data);
  });
}

std::optional<cpu::Memory> LinearMemory::allocate(uint64_t bytes) {
  if (bytes > kBytesMax) return std::nullopt;
  const bool is_big = bytes >= 2 * kHugePage;
  const auto offset = reserve(whole_pages(bytes), is_big ? kHugePage : page_bytes());
  if (!offset) return std::nullopt;
  if (is_big) madvise(base_ + *offset, bytes, MADV_HUGEPAGE);  // a hint: may fail
  return piece_at(*offset, bytes);
}

std::optional<cpu::Memory> LinearMemory::allocate_guarded(uint64_t bytes) {
  auto piece = allocate(bytes);
  if (piece && mprotect(piece->data(), page_bytes(), PROT_NONE) != 0) return std::nullopt;
  return piece;
}

std::optional<cpu::Memory> LinearMemory::map(int fd, uint64_t offset, uint64_t bytes) {
  const uint64_t in_page = offset % page_bytes();
  const uint64_t mapped = whole_pages(in_page + bytes);
  const auto place = reserve(mapped, page_bytes());
  if (!place) return std::nullopt;
  cpu::Memory piece = piece_at(*place + in_page, bytes);
  if (bytes != 0 && mmap(base_ + *place, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                         static_cast<off_t>(offset - in_page)) == MAP_FAILED) {
    return std::nullopt;
  }
  return piece;
}

std::optional<cpu::Memory> LinearMemory::map_file(int32_t fd, uint64_t offset, uint64_t bytes) {
  struct stat info {};
  // Reading a mapped page behind the end of a file kills the process.
  if (fstat(fd, &info) != 0 || info.st_size < 0) return std::nullopt;
  const auto size = static_cast<uint64_t>(info.st_size);
  if (offset > size || bytes > size - offset || bytes > kBytesMax) return std::nullopt;
  return map(fd, offset, bytes);
}

std::optional<cpu::Memory> LinearMemory::allocate_shared(uint64_t bytes) {
  if (bytes > kBytesMax) return std::nullopt;
  const int fd = memfd_create("plumbline", MFD_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::optional<cpu::Memory> piece;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0) piece = map(fd, 0, bytes);
  if (piece) {
    const std::lock_guard lock(mutex_);
    pieces_.find(*offset_of(reinterpret_cast<uintptr_t>(piece->data())))->second.fd = fd;
  } else {
    close(fd);
  }
  return piece;
}

}  // namespace plumbline::wasm
