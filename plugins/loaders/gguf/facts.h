// facts.h: one architecture's metadata, each value checked as it is asked for.
#pragma once

#include <string>
#include <string_view>

#include "file.h"

namespace plumbline::loaders::gguf {

/// Keys are given without the architecture's prefix: "block_count" is "llama.block_count" in the
/// file. Every question fails CORRUPT if the value has the wrong type or range, and UNSUPPORTED if
/// it is an array (one value for each layer). Those without a fallback fail CORRUPT if the key is
/// missing.
class Facts {
 public:
  Facts(const File& file, std::string_view architecture)
      : file_(file), prefix_(std::string(architecture) + ".") {}

  const File& file() const { return file_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }

  /// An integer from 1 to 2^31 - 1.
  Result<uint64_t> count(std::string_view key) const;
  Result<uint64_t> count_or(std::string_view key, uint64_t fallback) const;
  /// A finite number above 0.
  Result<double> positive(std::string_view key) const;
  Result<double> positive_or(std::string_view key, double fallback) const;
  Result<std::string_view> text_or(std::string_view key, std::string_view fallback) const;

  /// UNSUPPORTED if the key is there with another value than 0: what it asks for would be ignored.
  Result<void> must_be_off(std::string_view key) const;

  /// An error about a key of this file: where, seen, expected.
  Error bad(plumb_status code, std::string_view key, const std::string& seen_expected) const;

 private:
  const Entry* find(std::string_view key) const {
    return file_.metadata().find(prefix_ + std::string(key));
  }
  Result<const Entry*> require(std::string_view key) const;

  const File& file_;
  std::string prefix_;
};

}  // namespace plumbline::loaders::gguf
