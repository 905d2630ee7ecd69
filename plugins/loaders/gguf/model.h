// model.h: what an opened file is to the plugin's tables.
#pragma once

#include <string>

#include "file.h"
#include "plumb/metadata.h"
#include "plumb/sdk/host_file.h"

namespace plumbline::loaders::gguf {

struct Model {
  explicit Model(HostFile opened) : mapping(std::move(opened)) {}

  HostFile mapping;
  File file;
  Result<std::string> hyper_parameters = Error{};
  plumb_metadata metadata = make_abi<plumb_metadata>();
};

inline Model& model_of(void* self) {
  return *static_cast<Model*>(self);
}

}  // namespace plumbline::loaders::gguf
