// mapped_file.h: a read-only file in memory.
#pragma once

#include <string>

#include "plumb/base.h"
#include "plumb/sdk/result.h"

namespace plumbline::os {

/// A whole regular file, mapped read-only and shared with the file cache. Move-only.
class MappedFile {
 public:
  /// Fails NOT_FOUND (path and the system's reason), CORRUPT (a directory, device or pipe, or an
  /// empty file).
  static Result<MappedFile> open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  plumb_bytes bytes() const { return bytes_; }

  /// Lets go of the pages that lie wholly inside [offset, offset + n_bytes). A later read brings
  /// them back.
  void drop(uint64_t offset, uint64_t n_bytes) const;

 private:
  plumb_bytes bytes_{};
};

}  // namespace plumbline::os
