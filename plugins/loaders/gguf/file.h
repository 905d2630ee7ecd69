// file.h: the whole structure of a GGUF file, checked.
#pragma once

#include <vector>

#include "key_values.h"
#include "plumb/formats.h"

namespace plumbline::loaders::gguf {

/// A parsed file. Everything in it points into the mapping, which must outlive it.
class File {
 public:
  /// Fails CORRUPT (byte offset, seen, expected), UNSUPPORTED (version, byte order, a tensor's
  /// format). Source: the GGUF specification, "File Structure".
  static Result<File> parse(plumb_bytes bytes);

  const Metadata& metadata() const { return metadata_; }
  const std::vector<plumb_tensor>& tensors() const { return tensors_; }
  /// What stands before the tensors' descriptions: magic, version, counts, metadata.
  std::string_view before_tensors() const { return before_tensors_; }
  static constexpr uint64_t kEntryCountAt = 16;  // in it: the number of metadata entries, a u64
  uint64_t alignment() const { return alignment_; }
  /// Null if there is no such tensor. O(log n).
  const plumb_tensor* find_tensor(std::string_view name) const;

 private:
  Result<void> read_tensors(Reader& reader, uint64_t n_tensors);
  Result<void> place_tensors(plumb_bytes bytes, uint64_t header_bytes);
  Result<void> index_tensors();

  Metadata metadata_;
  std::string_view before_tensors_;
  uint64_t alignment_ = 0;
  std::vector<plumb_tensor> tensors_;
  std::vector<uint32_t> by_name_;  // indices into tensors_, ascending by name
};

/// A file's first eight bytes: UNSUPPORTED if it is not GGUF or of another version.
Result<void> check_version(plumb_bytes head);

}  // namespace plumbline::loaders::gguf
