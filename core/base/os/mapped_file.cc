#include "core/base/os/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace plumbline::os {

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe would be waited for; it is no regular file, whoever writes to it.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Error{PLUMB_NOT_FOUND, path + ": " + std::strerror(errno)};
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0) {
    ::close(fd);
    return Error{PLUMB_CORRUPT,
                 path + (S_ISREG(info.st_mode) ? ": the file is empty" : ": not a regular file")};
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  const int map_error = errno;
  ::close(fd);
  if (data == MAP_FAILED)
    return Error{PLUMB_NOT_FOUND, path + ": cannot map: " + std::strerror(map_error)};
  MappedFile file;
  file.bytes_ = {static_cast<const uint8_t*>(data), size};
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.data != nullptr) ::munmap(const_cast<uint8_t*>(bytes_.data), bytes_.bytes);
}

void MappedFile::drop(uint64_t offset, uint64_t n_bytes) const {
  if (offset >= bytes_.bytes) return;
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t end = offset + std::min(n_bytes, bytes_.bytes - offset);
  const uint64_t first = (offset + page - 1) / page * page;
  const uint64_t last = end / page * page;
  if (first < last)
    ::madvise(const_cast<uint8_t*>(bytes_.data) + first, last - first, MADV_DONTNEED);
}

}  // namespace plumbline::os
