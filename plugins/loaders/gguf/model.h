// model.h: what an opened file is to the plugin's tables.
#pragma once

#include <string>

#include "file.h"
#include "plumb/metadata.h"
#include "plumb/plugin.h"

namespace plumbline::loaders::gguf {

/// A file mapped by the host.
class Mapping {
 public:
  Mapping(const plumb_host& host, plumb_handle handle) : host_(host), handle_(handle) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { host_.unmap_file(host_.context, handle_); }

  void drop(uint64_t offset, uint64_t bytes) const {
    if (PLUMB_HAS(&host_, plumb_host, drop_pages) && host_.drop_pages != nullptr) {
      host_.drop_pages(host_.context, handle_, offset, bytes);
    }
  }

 private:
  const plumb_host& host_;
  plumb_handle handle_;
};

struct Model {
  Model(const plumb_host& host, plumb_handle handle) : mapping(host, handle) {}

  Mapping mapping;
  File file;
  Result<std::string> hyper_parameters = Error{};
  plumb_metadata metadata = make_abi<plumb_metadata>();
};

inline Model& model_of(void* self) {
  return *static_cast<Model*>(self);
}

}  // namespace plumbline::loaders::gguf
