// file_lock.h: one process at a time.
#pragma once

#include <optional>
#include <string>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// An exclusive lock between processes (and between objects of one process), held while the object
/// lives. The system lets go of it when the process dies, however it dies. Move-only.
class FileLock {
 public:
  /// Empty if another holds it. Creates the file, which stays. Fails NOT_FOUND (path and reason).
  static Result<std::optional<FileLock>> try_lock(const std::string& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace plumbline::os
