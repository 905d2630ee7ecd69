#include "core/base/os/fresh_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/base/os/durable.h"
#include "core/base/os/fresh_name.h"

namespace plumbline::os {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kWriteBytesMax = uint64_t{1} << 30;  // Linux writes no more than 2 GiB at once

}  // namespace

Error FreshFile::failed(const char* what, int reason) const {
  return {PLUMB_NOT_FOUND, target_ + ": " + what + ": " + std::strerror(reason)};
}

Result<FreshFile> FreshFile::create(const std::string& target, uint64_t bytes) {
  const std::string path = fresh_name(target);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  const int reason = errno;
  FreshFile file(fd, path, target);
  if (fd < 0) return file.failed("cannot be created", reason);
  PLUMB_TRY(file.reserve(bytes));
  return file;
}

Result<void> FreshFile::reserve(uint64_t bytes) {
  const bool fits = bytes <= static_cast<uint64_t>(std::numeric_limits<off_t>::max());
  int reason = fits ? 0 : EFBIG;
  if (fits && bytes != 0) {
    do {
      reason = ::posix_fallocate(fd_, 0, static_cast<off_t>(bytes));
    } while (reason == EINTR);
  }
  if (reason == 0) return {};
  std::error_code ignored;
  const fs::path folder = fs::path(path_).parent_path();
  const fs::space_info room = fs::space(folder.empty() ? "." : folder, ignored);
  return Error{PLUMB_NOT_FOUND, target_ + ": no room: " + std::to_string(bytes) +
                                    " bytes needed, " + std::to_string(room.available) +
                                    " free: " + std::strerror(reason)};
}

FreshFile::FreshFile(FreshFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      is_ours_(std::exchange(other.is_ours_, false)),
      path_(std::move(other.path_)),
      target_(std::move(other.target_)) {}

FreshFile::~FreshFile() {
  if (is_ours_) ::unlink(path_.c_str());
  if (fd_ >= 0) ::close(fd_);
}

Result<void> FreshFile::write(uint64_t offset, const void* data, uint64_t bytes) const {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n =
        ::pwrite(fd_, from, std::min(bytes, kWriteBytesMax), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("cannot be written", errno);
    from += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<uint64_t>(n);
  }
  return {};
}

Result<void> FreshFile::take_mode_of(const std::string& path) const {
  struct stat there {};
  constexpr mode_t kPermissions = S_IRWXU | S_IRWXG | S_IRWXO;
  if (::stat(path.c_str(), &there) == 0 && ::fchmod(fd_, there.st_mode & kPermissions) == 0)
    return {};
  return failed("its permissions cannot be kept", errno);
}

Result<void> FreshFile::publish() && {
  PLUMB_TRY(publish_file(path_, target_));
  is_ours_ = false;
  return {};
}

}  // namespace plumbline::os
