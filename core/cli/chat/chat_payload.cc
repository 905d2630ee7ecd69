#include "core/cli/chat/chat_payload.h"

#include <utility>

namespace plumbline::cli {

using pipeline::Stage;

void open_parts(Session& session, pipeline::Diagnostics& told) {
  const config::PipelineConfig& config = session.config().config;
  told.profile = config.sampling.profile;
  told.seed = config.sampling.seed;
  told.enter(Stage::kPlugins);
  Host& host = session.host();
  told.enter(Stage::kModelSource);
  session.model_path();
  told.enter(Stage::kModelHeader);
  pipeline::Pipeline& pipeline = session.pipeline();
  const std::string pin = model_pin(config.model.source, host);
  told.model = value_or_stop(pipeline::identity_of(pipeline.file(), pin), kModelFile);
  told.components.push_back({"loader", pipeline.loader_id()});
  told.n_threads = pipeline.threads().n_threads();
  told.enter(Stage::kTokenizer);
  told.components.push_back({"tokenizer", part_or_stop(pipeline.tokenizer())->id()});
  told.enter(Stage::kTemplate);
  told.components.push_back({"template", part_or_stop(pipeline.chat_template())->id()});
  told.role_forgery = part_or_stop(pipeline.role_forgery());
  told.enter(Stage::kPlugins);
  part_or_stop(pipeline.sampler());  // a wrong parameter is told before weights are loaded
  if (const auto parser = part_or_stop(pipeline.output_parser()))
    told.components.push_back({"parser", parser->id()});
  told.enter(Stage::kWeights);
  part_or_stop(pipeline.decoder());
  told.load_status = pipeline::LoadStatus::kKvAllocationSuccess;
  for (const auto& backend : pipeline.backends())
    told.kernels.push_back({backend->id(), backend->numerics()});
}

pipeline::Diagnostics next_transaction(const pipeline::Diagnostics& opened,
                                       const config::SamplingConfig& sampling) {
  const std::string id = pipeline::Diagnostics().transaction_id;
  pipeline::Diagnostics next = opened;
  next.transaction_id = id;
  next.profile = sampling.profile;
  next.seed = sampling.seed;
  return next;
}

}  // namespace plumbline::cli
