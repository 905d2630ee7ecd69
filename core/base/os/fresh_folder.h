// fresh_folder.h: a folder of files that appears whole or not at all.
#pragma once

#include <cstdint>
#include <string>

#include "plumb/sdk/result.h"

namespace plumbline::os {

/// Grows beside its place under a name of its own (fresh_name.h), and takes its place when it is
/// published. Not published, it is removed; only a process that is killed leaves it behind.
/// Move-only.
class FreshFolder {
 public:
  /// An empty folder. Fails NOT_FOUND: target is there already (an empty folder may be), no place
  /// to make it.
  static Result<FreshFolder> create(const std::string& target);

  FreshFolder(FreshFolder&& other) noexcept;
  FreshFolder& operator=(FreshFolder&&) = delete;
  ~FreshFolder();

  /// Where its files are to be written until it is published.
  const std::string& path() const { return path_; }
  /// Bytes that are free on its disk.
  uint64_t free_bytes() const;

  /// Gives it its name when every byte is on the disk. Fails NOT_FOUND (path and reason):
  /// somebody else put something there meanwhile, or the disk is full; then that stays.
  Result<void> publish() &&;

 private:
  FreshFolder(std::string path, std::string target)
      : path_(std::move(path)), target_(std::move(target)) {}

  bool is_ours_ = true;  // not published yet
  std::string path_, target_;
};

}  // namespace plumbline::os
