// fresh_folder.h: a folder of files that appears whole or not at all.
#pragma once

#include <cstdint>
#include <string>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// Grows beside its place under a name of its own, ".unfinished" at the end, and takes its place
/// when it is published. Not published, it is removed; only a process that is killed leaves it
/// behind, for the next one to clear away. Move-only.
class FreshFolder {
 public:
  /// An empty folder. Fails NOT_FOUND: target is there already (an empty folder may be), no place
  /// to make it, another process is making the same one.
  static Result<FreshFolder> create(const std::string& target);

  FreshFolder(FreshFolder&& other) noexcept;
  FreshFolder& operator=(FreshFolder&&) = delete;
  ~FreshFolder();

  /// Where its files are to be written until it is published.
  const std::string& path() const { return path_; }
  /// Bytes that are free on its disk.
  uint64_t free_bytes() const;

  /// Gives it its name when every byte is on the disk. Fails NOT_FOUND (path and reason); then
  /// nothing is there.
  Result<void> publish() &&;

 private:
  FreshFolder(int fd, std::string path, std::string target)
      : fd_(fd), path_(std::move(path)), target_(std::move(target)) {}
  Result<void> claim();

  int fd_;
  bool is_ours_ = false;  // locked, and so ours to fill and to remove
  std::string path_, target_;
};

}  // namespace plumbline::os
