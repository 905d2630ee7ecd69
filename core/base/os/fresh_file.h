// fresh_file.h: a large file that appears whole or not at all, written piece by piece.
#pragma once

#include <cstdint>
#include <string>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// Grows beside its place under a name of its own (fresh_name.h), and takes its place when it is
/// published. Not published, it is removed; only a process that is killed leaves it behind.
/// Move-only.
class FreshFile {
 public:
  /// A file of zeros, with its room on the disk reserved. Fails NOT_FOUND: no such folder, no room
  /// (bytes needed and free).
  static Result<FreshFile> create(const std::string& target, uint64_t bytes);

  FreshFile(FreshFile&& other) noexcept;
  FreshFile& operator=(FreshFile&&) = delete;
  ~FreshFile();

  /// Inside the size given to create. [any-thread]
  Result<void> write(uint64_t offset, const void* data, uint64_t bytes) const;

  /// Who may read and write it: as it is with `path`. Fails NOT_FOUND (path and reason).
  Result<void> take_mode_of(const std::string& path) const;

  /// Gives it its name, replacing what is there, when every byte is on the disk. Fails NOT_FOUND
  /// (path and reason); then the target is as it was.
  Result<void> publish() &&;

 private:
  FreshFile(int fd, std::string path, std::string target)
      : fd_(fd), is_ours_(fd >= 0), path_(std::move(path)), target_(std::move(target)) {}
  Result<void> reserve(uint64_t bytes);
  Error failed(const char* what, int reason) const;

  int fd_;
  bool is_ours_;  // made, and not published yet
  std::string path_, target_;
};

}  // namespace plumbline::os
