#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace plumbline::cpu {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kLargest = uint64_t{1} << 47;

}  // namespace

Memory::Memory(Memory&& other) noexcept {
  *this = std::move(other);
}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(fd_, other.fd_);
  std::swap(owner_, other.owner_);
  std::swap(release_, other.release_);
  return *this;
}

Memory::~Memory() {
  if (release_ != nullptr) release_(owner_, data_);
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  if (fd_ >= 0) close(fd_);
}

std::optional<Memory> Memory::map(uint64_t bytes, int flags, int fd, uint64_t offset) {
  if (bytes > kLargest) return std::nullopt;
  Memory memory;
  const uint64_t in_page = offset % static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // Room to start at a huge page's boundary: only aligned pieces of 2 MiB can become one.
  const uint64_t slack = fd < 0 && bytes >= 2 * kHugePage ? kHugePage : 0;
  memory.mapping_bytes_ = std::max<uint64_t>(bytes + in_page + slack, 1);
  void* mapping = mmap(nullptr, memory.mapping_bytes_, PROT_READ | PROT_WRITE, flags, fd,
                       static_cast<off_t>(offset - in_page));
  if (mapping == MAP_FAILED) return std::nullopt;
  memory.mapping_ = mapping;
  memory.bytes_ = bytes;
  const auto start = reinterpret_cast<uintptr_t>(mapping);
  const uint64_t skip = slack == 0 ? in_page : (kHugePage - start % kHugePage) % kHugePage;
  memory.data_ = static_cast<uint8_t*>(mapping) + skip;
  if (slack != 0) madvise(memory.data_, bytes, MADV_HUGEPAGE);  // a hint: failure changes nothing
  return memory;
}

void Memory::prefer_small_pages() const {
  if (mapping_ != nullptr) madvise(mapping_, mapping_bytes_, MADV_NOHUGEPAGE);  // a hint
}

std::optional<Memory> Memory::anonymous(uint64_t bytes) {
  return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

std::optional<Memory> Memory::shared(uint64_t bytes) {
  const int fd = memfd_create("plumbline", MFD_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::optional<Memory> memory;
  if (bytes <= kLargest && ftruncate(fd, static_cast<off_t>(bytes)) == 0)
    memory = map(bytes, MAP_SHARED, fd, 0);
  if (memory) {
    memory->fd_ = fd;
  } else {
    close(fd);
  }
  return memory;
}

Memory Memory::held_by(void* owner, uint8_t* data, uint64_t bytes, Release release) {
  Memory memory;
  memory.data_ = data;
  memory.bytes_ = bytes;
  memory.owner_ = owner;
  memory.release_ = release;
  return memory;
}

std::optional<Memory> Memory::of_file(int32_t fd, uint64_t offset, uint64_t bytes) {
  struct stat info {};
  // Reading a mapped page behind the end of a file kills the process.
  if (fstat(fd, &info) != 0 || info.st_size < 0) return std::nullopt;
  const auto size = static_cast<uint64_t>(info.st_size);
  if (offset > size || bytes > size - offset) return std::nullopt;
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return std::nullopt;
  std::optional<Memory> memory = map(bytes, MAP_SHARED, own, offset);
  if (memory) {
    memory->fd_ = own;
  } else {
    close(own);
  }
  return memory;
}

}  // namespace plumbline::cpu
