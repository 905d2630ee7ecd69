#include "core/host/services.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <map>
#include <mutex>
#include <utility>

#include "core/base/os/mapped_file.h"
#include "core/host/text.h"
#include "plumb/sdk/abi.h"

namespace plumbline {
namespace {

/// Open mappings by handle, so that a plugin's wrong or second unmap does nothing.
class Mappings {
 public:
  plumb_status map(plumb_str path, plumb_bytes* out, plumb_handle* mapping, plumb_error* error) {
    return guarded(error, [&]() -> plumb_status {
      auto file = os::MappedFile::open(to_string(path));
      if (!file) return fail(error, file.error());
      const std::lock_guard lock(mutex_);
      *mapping = ++last_;
      *out = file->bytes();
      files_.emplace(last_, *std::move(file));
      return PLUMB_OK;
    });
  }

  void drop_pages(plumb_handle mapping, uint64_t offset, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(mapping);
    if (found != files_.end()) found->second.drop(offset, bytes);
  }

  void unmap(plumb_handle mapping) {
    const std::lock_guard lock(mutex_);
    files_.erase(mapping);
  }

 private:
  std::mutex mutex_;
  plumb_handle last_ = 0;
  std::map<plumb_handle, os::MappedFile> files_;
};

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> plumb = [] {
    auto existing = spdlog::get("plumb");
    return existing ? existing : spdlog::stderr_logger_mt("plumb");
  }();
  return *plumb;
}

void PLUMB_CALL log(void*, int32_t level, plumb_str message) {
  guarded(nullptr, [&] {
    const auto severity = level <= PLUMB_LOG_DEBUG  ? spdlog::level::debug
                          : level == PLUMB_LOG_INFO ? spdlog::level::info
                                                    : spdlog::level::warn;
    logger().log(severity, one_line(to_view(message)));
    return PLUMB_OK;
  });
}

plumb_status PLUMB_CALL map_file(void* context, plumb_str path, plumb_bytes* out,
                                 plumb_handle* mapping, plumb_error* error) {
  return static_cast<Mappings*>(context)->map(path, out, mapping, error);
}

void PLUMB_CALL unmap_file(void* context, plumb_handle mapping) {
  static_cast<Mappings*>(context)->unmap(mapping);
}

void PLUMB_CALL drop_pages(void* context, plumb_handle mapping, uint64_t offset, uint64_t bytes) {
  static_cast<Mappings*>(context)->drop_pages(mapping, offset, bytes);
}

}  // namespace

const plumb_host* host_services() {
  // Never destroyed: plugins may use it until the process ends, static destructors included.
  static Mappings& mappings = *new Mappings;
  static const plumb_host services = {sizeof(plumb_host), 0,          &mappings, log,
                                      map_file,           unmap_file, drop_pages};
  return &services;
}

}  // namespace plumbline
