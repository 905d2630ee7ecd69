#include "core/base/os/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace plumbline::os {
namespace {

/// Closed with its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

Result<std::string> read_regular_file(const std::string& path, uint64_t bytes_max) {
  const auto failed = [&] {
    return Error{PLUMB_NOT_FOUND, path + ": cannot be read: " + std::strerror(errno)};
  };
  // Without O_NONBLOCK a pipe would be waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (file.fd() < 0 || ::fstat(file.fd(), &info) != 0) return failed();
  if (!S_ISREG(info.st_mode)) {
    return Error{
        PLUMB_CORRUPT,
        path + ": cannot be read: found a folder, a device or a pipe, expected a regular file"};
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > bytes_max) {
    return Error{PLUMB_CORRUPT, path + ": found " + std::to_string(size) +
                                    " bytes, expected at most " + std::to_string(bytes_max)};
  }
  std::string bytes(size, '\0');
  uint64_t n_read = 0;
  while (n_read < size) {
    const ssize_t n = ::read(file.fd(), bytes.data() + n_read, size - n_read);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed();
    if (n == 0) break;  // cut in the meantime
    n_read += static_cast<uint64_t>(n);
  }
  bytes.resize(n_read);
  return bytes;
}

}  // namespace plumbline::os
