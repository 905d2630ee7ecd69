// host_file.h: a file that the host has mapped for a plugin.
#pragma once

#include <string>
#include <utility>

#include "plumb/plugin.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/result.h"

namespace plumbline {

/// Unmapped with its last owner; move-only.
class HostFile {
 public:
  /// Fails as plumb_host.map_file does. The host must outlive the result.
  static Result<HostFile> map(const plumb_host& host, const std::string& path) {
    HostFile file(host);
    ErrorBuffer error;
    const plumb_status status =
        host.map_file(host.context, to_abi(path), &file.bytes_, &file.handle_, error);
    if (status != PLUMB_OK) {
      file.host_ = nullptr;
      return error.take(status);
    }
    return file;
  }

  HostFile(HostFile&& other) noexcept
      : host_(std::exchange(other.host_, nullptr)), bytes_(other.bytes_), handle_(other.handle_) {}
  HostFile& operator=(HostFile&&) = delete;
  ~HostFile() {
    if (host_ != nullptr) host_->unmap_file(host_->context, handle_);
  }

  plumb_bytes bytes() const { return bytes_; }
  std::string_view text() const { return to_view(bytes_); }

  /// A hint: these bytes will not be read again soon.
  void drop(uint64_t offset, uint64_t bytes) const {
    if (PLUMB_HAS(host_, plumb_host, drop_pages) && host_->drop_pages != nullptr)
      host_->drop_pages(host_->context, handle_, offset, bytes);
  }

 private:
  explicit HostFile(const plumb_host& host) : host_(&host) {}

  const plumb_host* host_;
  plumb_bytes bytes_{};
  plumb_handle handle_ = 0;
};

}  // namespace plumbline
