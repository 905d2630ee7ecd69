#include "core/base/os/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/os/fresh_name.h"
#include "core/base/os/spawn.h"

namespace plumbline::os {
namespace {

constexpr mode_t kOwnerFile = 0600;
constexpr mode_t kOwnerFolder = 0700;

Error failed(const std::string& path, const char* what) {
  return {PLUMB_NOT_FOUND, path + ": " + what + ": " + std::strerror(errno)};
}

Result<void> make_folders(const std::filesystem::path& folder) {
  std::filesystem::path made;
  for (const auto& name : folder) {
    made /= name;
    if (::mkdir(made.c_str(), kOwnerFolder) != 0 && errno != EEXIST && errno != EISDIR)
      return failed(made.string(), "cannot be made");
  }
  return {};
}

Result<void> write_all(const Fd& file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "cannot be written");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace

Result<void> append_private_file(const std::string& path, std::string_view bytes) {
  PLUMB_TRY(make_folders(std::filesystem::path(path).parent_path()));
  // Without O_NONBLOCK a pipe would be waited for.
  const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK;
  const Fd file(::open(path.c_str(), flags, kOwnerFile));
  struct stat info {};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0) return failed(path, "cannot be opened");
  if (!S_ISREG(info.st_mode)) {
    return Error{PLUMB_CORRUPT, path +
                                    ": found a folder, a device or a pipe, expected a regular "
                                    "file"};
  }
  if ((info.st_mode & 077) != 0 && ::fchmod(file.get(), kOwnerFile) != 0)
    return failed(path, "cannot be made private");
  return write_all(file, path, bytes);
}

Result<void> replace_private_file(const std::string& path, std::string_view bytes) {
  PLUMB_TRY(make_folders(std::filesystem::path(path).parent_path()));
  const std::string fresh = fresh_name(path);
  const Fd file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerFile));
  if (!file.is_open()) return failed(fresh, "cannot be made");
  Result<void> written = write_all(file, fresh, bytes);
  if (written && ::rename(fresh.c_str(), path.c_str()) != 0)
    written = failed(path, "cannot be put in its place");
  if (!written) ::unlink(fresh.c_str());
  return written;
}

}  // namespace plumbline::os
