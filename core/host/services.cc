#include "core/host/services.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <list>
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

/// Never destroyed: plugins may use it until the process ends, static destructors included.
Mappings& mappings() {
  static Mappings& all = *new Mappings;
  return all;
}

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

plumb_status PLUMB_CALL map_file(void*, plumb_str path, plumb_bytes* out, plumb_handle* mapping,
                                 plumb_error* error) {
  return mappings().map(path, out, mapping, error);
}

void PLUMB_CALL unmap_file(void*, plumb_handle mapping) {
  mappings().unmap(mapping);
}

void PLUMB_CALL drop_pages(void*, plumb_handle mapping, uint64_t offset, uint64_t bytes) {
  mappings().drop_pages(mapping, offset, bytes);
}

constexpr plumb_host kServices = {
    .struct_bytes = sizeof(plumb_host),
    .reserved = 0,
    .context = nullptr,
    .log = log,
    .map_file = map_file,
    .unmap_file = unmap_file,
    .drop_pages = drop_pages,
    .find_extension = nullptr,
};

}  // namespace

const plumb_host* host_services() {
  return &kServices;
}

/// Where plugins ask, and who they are.
struct PluginServices::Door {
  struct Asker {
    Door* door;
    std::vector<std::string> ids;
    plumb_host services;
  };

  std::mutex finder_mutex;  // held while it searches
  ExtensionFinder* finder;
  std::mutex askers_mutex;
  std::map<std::vector<std::string>, Asker> askers;

  static plumb_status PLUMB_CALL find_extension(void* context, plumb_str extension,
                                                plumb_str plugin, const void** table,
                                                const plumb_host** host, plumb_error* error) {
    return guarded(error, [&]() -> plumb_status {
      if (context == nullptr || table == nullptr || host == nullptr)
        return fail(error, PLUMB_INVALID_ARGUMENT, "find_extension: nowhere to put the answer");
      const Asker& asker = *static_cast<Asker*>(context);
      const std::lock_guard lock(asker.door->finder_mutex);
      if (asker.door->finder == nullptr)
        return fail(error, PLUMB_NOT_FOUND, "find_extension: the host has been closed");
      const auto found =
          asker.door->finder->find_extension(to_view(extension), to_string(plugin), asker.ids);
      if (!found) return fail(error, found.error());
      *table = found->table;
      *host = found->host;
      return PLUMB_OK;
    });
  }
};

PluginServices::PluginServices(ExtensionFinder& finder) {
  static std::mutex mutex;
  static std::list<Door>& doors = *new std::list<Door>;
  const std::lock_guard lock(mutex);
  door_ = &doors.emplace_back();
  door_->finder = &finder;
}

PluginServices::~PluginServices() {
  const std::lock_guard lock(door_->finder_mutex);
  door_->finder = nullptr;
}

const plumb_host* PluginServices::of(const std::vector<std::string>& askers) {
  const std::lock_guard lock(door_->askers_mutex);
  const auto [place, is_new] = door_->askers.try_emplace(askers);
  Door::Asker& asker = place->second;
  if (is_new) {
    asker = {door_, askers, kServices};
    asker.services.context = &asker;
    asker.services.find_extension = Door::find_extension;
  }
  return &asker.services;
}

}  // namespace plumbline
