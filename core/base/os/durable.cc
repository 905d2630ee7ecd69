#include "core/base/os/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/base/os/fresh_file.h"

namespace plumbline::os {
namespace {

namespace fs = std::filesystem;

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

using Write = std::function<Result<void>(const PieceSink& sink)>;

Result<void> write_in_place(const std::string& path, const Write& write) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  PLUMB_TRY(write([&](std::string_view piece) -> Result<void> {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (!out) return failed(path, "cannot be written");
    return {};
  }));
  out.close();
  if (!out) return failed(path, "cannot be written");
  return {};
}

}  // namespace

Result<void> publish_file(const std::string& from, const std::string& to) {
  PLUMB_TRY(sync(from, O_RDONLY));
  if (std::rename(from.c_str(), to.c_str()) != 0) return failed(to, "cannot be put in its place");
  const std::string folder = fs::path(to).parent_path().string();
  return sync(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  return write_file(path, bytes.size(), [&](const PieceSink& sink) { return sink(bytes); });
}

Result<void> write_file(const std::string& path, uint64_t n_bytes, const Write& write) {
  std::error_code ignored;
  const fs::path real = fs::canonical(path, ignored);  // empty: there is nothing yet
  if (!real.empty() && !fs::is_regular_file(real, ignored)) return write_in_place(path, write);
  // The folder would allow it, but whoever has protected the file means it.
  if (!real.empty() && ::access(real.c_str(), W_OK) != 0) return failed(path, "cannot be written");
  const std::string target = real.empty() ? path : real.string();
  PLUMB_ASSIGN(FreshFile fresh, FreshFile::create(target, n_bytes));
  if (!real.empty()) PLUMB_TRY(fresh.take_mode_of(target));
  uint64_t n_written = 0;
  PLUMB_TRY(write([&](std::string_view piece) -> Result<void> {
    const uint64_t at = std::exchange(n_written, n_written + piece.size());
    return fresh.write(at, piece.data(), piece.size());
  }));
  if (n_written != n_bytes) {
    return Error{PLUMB_INTERNAL, path + ": " + std::to_string(n_written) +
                                     " bytes were written, expected " + std::to_string(n_bytes)};
  }
  return std::move(fresh).publish();
}

}  // namespace plumbline::os
