// memory_host.h: a host whose files are heap blocks of exactly their size, so that a sanitizer sees
// a read past the end.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plumb/plugin.h"
#include "plumb/sdk/abi.h"

namespace plumbline::test {

class MemoryHost {
 public:
  struct Drop {
    uint64_t offset, bytes;
    bool operator==(const Drop&) const = default;
  };

  MemoryHost() {
    host_ = make_abi<plumb_host>();
    host_.context = this;
    host_.log = [](void*, int32_t, plumb_str) {};
    host_.map_file = map;
    host_.unmap_file = [](void* self, plumb_handle) {
      --static_cast<MemoryHost*>(self)->n_mapped_;
    };
    host_.drop_pages = [](void* self, plumb_handle, uint64_t offset, uint64_t bytes) {
      static_cast<MemoryHost*>(self)->drops_.push_back({offset, bytes});
    };
  }
  MemoryHost(const MemoryHost&) = delete;
  MemoryHost& operator=(const MemoryHost&) = delete;

  void put(const std::string& path, const std::vector<uint8_t>& bytes) {
    File& file = files_[path];
    file.bytes.reset(new uint8_t[bytes.size()]);
    file.n = bytes.size();
    if (!bytes.empty()) std::memcpy(file.bytes.get(), bytes.data(), bytes.size());
  }

  plumb_host& host() { return host_; }
  int n_mapped() const { return n_mapped_; }
  const std::vector<Drop>& drops() const { return drops_; }

 private:
  struct File {
    std::unique_ptr<uint8_t[]> bytes;
    uint64_t n = 0;
  };

  static plumb_status map(void* self, plumb_str path, plumb_bytes* out, plumb_handle* mapping,
                          plumb_error* error) {
    auto& host = *static_cast<MemoryHost*>(self);
    const auto file = host.files_.find(to_string(path));
    if (file == host.files_.end())
      return fail(error, PLUMB_NOT_FOUND, to_string(path) + ": no such file");
    *out = {file->second.bytes.get(), file->second.n};
    *mapping = 1;
    ++host.n_mapped_;
    return PLUMB_OK;
  }

  plumb_host host_;
  std::map<std::string, File> files_;
  std::vector<Drop> drops_;
  int n_mapped_ = 0;
};

}  // namespace plumbline::test
