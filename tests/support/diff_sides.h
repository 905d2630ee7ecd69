// diff_sides.h: sides of a comparison on golden models, with this build's plugins.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config/load.h"
#include "core/diff/side.h"
#include "tests/support/build_host.h"

namespace plumbline::test {

/// A side and what it stands on.
struct MadeSide {
  config::ResolvedConfig config;
  std::unique_ptr<pipeline::Pipeline> pipeline;
  std::unique_ptr<diff::Side> side;
};

/// Of a config that is there. Fails as its parts do.
inline Result<std::unique_ptr<MadeSide>> make_side(config::ResolvedConfig config) {
  auto made = std::make_unique<MadeSide>();
  made->config = std::move(config);
  const std::string& path = made->config.config.model.source.path;
  PLUMB_ASSIGN(made->pipeline, pipeline::Pipeline::open(made->config.config, host(), path));
  PLUMB_ASSIGN(made->side, diff::make_side({"made"}, made->config, *made->pipeline));
  return made;
}

/// A model of golden/models on the scalar kernels. overrides: as with --set. Null after a failure
/// of the test.
inline std::unique_ptr<MadeSide> make_side(const std::string& model,
                                           std::vector<std::string> overrides = {}) {
  const std::string file = std::string(PLUMB_SOURCE_DIR "/golden/models/") + model + "/model.gguf";
  overrides.insert(overrides.begin(), {"kernels.backend=plumb.cpu.scalar",
                                       "model.source.path=" + file, "sampling.stages=[greedy]"});
  auto resolved =
      config::load_config({.file = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml",
                           .overrides = std::move(overrides),
                           .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
  EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
  if (!resolved) return nullptr;
  auto made = make_side(*std::move(resolved));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? *std::move(made) : nullptr;
}

}  // namespace plumbline::test
