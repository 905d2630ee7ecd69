// tiny_world.h: a pipeline on the demo model, with this build's plugins.
#pragma once

#include "core/config/load.h"
#include "core/pipeline/pipeline.h"
#include "tests/support/build_host.h"
#include "tests/support/golden_cases.h"

namespace plumbline::test {

inline std::string tiny_world_path() {
  return golden_path("models/tiny-world/model.gguf");
}

/// Null after a failure of the test. overrides: as with --set.
inline std::unique_ptr<pipeline::Pipeline> tiny_world(
    std::vector<std::string> overrides, Host& plugins = host(),
    const std::string& model_path = tiny_world_path()) {
  overrides.insert(overrides.begin(), "kernels.backend=plumb.cpu.scalar");
  const auto resolved =
      config::load_config({.file = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml",
                           .overrides = std::move(overrides),
                           .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
  EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
  if (!resolved) return nullptr;
  auto opened = pipeline::Pipeline::open(resolved->config, plugins, model_path);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return opened ? *std::move(opened) : nullptr;
}

}  // namespace plumbline::test
