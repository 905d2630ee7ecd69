#include "core/protocol/side_maker.h"

namespace plumbline::protocol {
namespace {

Result<OpenSide> open_pipeline(config::LoadRequest load, const std::vector<std::string>& overrides,
                               Host& host, const std::string& model_path) {
  load.overrides.insert(load.overrides.end(), overrides.begin(), overrides.end());
  OpenSide made;
  PLUMB_ASSIGN(config::ResolvedConfig resolved, config::load_config(load));
  made.config = std::make_unique<config::ResolvedConfig>(std::move(resolved));
  PLUMB_ASSIGN(made.pipeline, pipeline::Pipeline::open(made.config->config, host, model_path));
  return made;
}

}  // namespace

Result<OpenSide> SideMaker::open(const std::vector<std::string>& overrides,
                                 const std::string& model_path) const {
  PLUMB_ASSIGN(OpenSide made, open_pipeline(load_, overrides, *host_,
                                            model_path.empty() ? model_path_ : model_path));
  PLUMB_ASSIGN(made.side, diff::make_side({.name = load_.file}, *made.config, *made.pipeline));
  return made;
}

Result<OpenSide> SideMaker::open_text(const std::vector<std::string>& overrides) const {
  return open_pipeline(load_, overrides, *host_, model_path_);
}

}  // namespace plumbline::protocol
