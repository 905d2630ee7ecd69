// sha256.h: SHA-256 of bytes and files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "plumb/sdk/result.h"

namespace plumbline {

/// Hashes what it is given, piece by piece.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  /// 64 lower-case hexadecimal digits. Once, and last.
  std::string finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

std::string sha256_of(std::string_view bytes);

/// Hashes a whole file; on_bytes, if given, is told after each piece how many are done and may
/// return false to stop. Fails NOT_FOUND (path and reason), CANCELLED.
Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<bool(uint64_t done)>& on_bytes = {});

/// Of a file; of a folder, such as one of safetensors, the hash of a line "NAME\nSHA256\n" for each
/// file in it, by name. on_bytes: told of each file. Fails as sha256_of_file does.
Result<std::string> sha256_of_path(const std::string& path,
                                   const std::function<bool(uint64_t done)>& on_bytes = {});

}  // namespace plumbline
