// pulled_model.h: where a real model lies on this machine.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/os/paths.h"

namespace plumbline::test {

/// NAME.gguf in the model folder, or what `plumb model pull NAME` left there (a GGUF file or a
/// tokenizer.json); "" if there is none.
inline std::string pulled_model(const std::string& name) {
  namespace fs = std::filesystem;
  const auto folder = os::model_folder();
  if (!folder) return "";
  std::error_code none;
  const fs::path alone = fs::path(*folder) / (name + ".gguf");
  if (fs::exists(alone, none)) return alone.string();
  for (const auto& entry : fs::directory_iterator(fs::path(*folder) / name, none)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".gguf" || path.filename() == "tokenizer.json") return path.string();
  }
  return "";
}

}  // namespace plumbline::test
