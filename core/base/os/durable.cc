#include "core/base/os/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace plumbline::os {
namespace {

Error failed(const std::string& path, const char* what) {
  return {PLUMB_NOT_FOUND, path + ": " + what + ": " + std::strerror(errno)};
}

/// Waits until a file's bytes, or a folder's names, are on the disk.
Result<void> sync(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return failed(path, "cannot be opened");
  const int result = ::fsync(fd);
  const int reason = errno;
  ::close(fd);
  errno = reason;
  if (result != 0) return failed(path, "cannot be written to the disk");
  return {};
}

}  // namespace

Result<void> publish_file(const std::string& from, const std::string& to) {
  PLUMB_TRY(sync(from, O_RDONLY));
  if (std::rename(from.c_str(), to.c_str()) != 0) return failed(to, "cannot be put in its place");
  const std::string folder = std::filesystem::path(to).parent_path().string();
  return sync(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) {
    const Error error = failed(fresh, "cannot be written");
    std::remove(fresh.c_str());
    return error;
  }
  return publish_file(fresh, path);
}

}  // namespace plumbline::os
