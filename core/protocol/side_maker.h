// side_maker.h: the sides that the stages compare, made from one config with a few values changed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/config/load.h"
#include "core/diff/side.h"
#include "core/host/host.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::protocol {

/// A side with all that it stands on.
struct OpenSide {
  std::unique_ptr<config::ResolvedConfig> config;
  std::unique_ptr<pipeline::Pipeline> pipeline;
  std::unique_ptr<diff::Side> side;  // null: only the pipeline was asked for

  diff::Side& operator*() const { return *side; }
  diff::Side* operator->() const { return side.get(); }
};

class SideMaker {
 public:
  /// load: of the config; model_path: its source, resolved. host must outlive the maker.
  SideMaker(config::LoadRequest load, Host& host, std::string model_path)
      : load_(std::move(load)), host_(&host), model_path_(std::move(model_path)) {}

  /// The config with more overrides ("kernels.activations=f32") and, unless it is empty, another
  /// model file. Fails as load_config, Pipeline::open and make_side do.
  Result<OpenSide> open(const std::vector<std::string>& overrides,
                        const std::string& model_path = "") const;
  /// The same without its weights, for text and ids alone.
  Result<OpenSide> open_text(const std::vector<std::string>& overrides) const;

  /// A reference that is another config's, a runner's; null: there is none.
  void set_reference(diff::Side* reference) { reference_ = reference; }
  diff::Side* reference() const { return reference_; }
  Host& host() const { return *host_; }

 private:
  config::LoadRequest load_;
  Host* host_;
  std::string model_path_;
  diff::Side* reference_ = nullptr;
};

}  // namespace plumbline::protocol
