// text_evidence.h: what a diagnosis of the doors of text (00, 10, 40, 50, 60) may ask of two
// pipelines: both sides as functions, and A's side with one thing changed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/diff/stage_errors.h"
#include "core/diff/text_doors.h"
#include "core/host/host.h"
#include "core/pipeline/pipeline.h"

namespace plumbline::diff {

/// What one side of a door makes of an input.
template <typename Input, typename Output>
using SideOf = std::function<Result<Output>(const Input&)>;

using MetadataValue =
    std::variant<bool, uint64_t, std::string, std::vector<std::string>, std::vector<int32_t>>;

/// What is different about A in a counterfactual. All else, plugins and files, stays.
struct Change {
  std::function<void(config::PipelineConfig&)> config = {};
  std::map<std::string, MetadataValue> tokenizer = {};  // keys of the tokenizer's metadata
  std::optional<std::string> template_text = {};
};

/// A's pipeline with a change, made anew.
using ChangedPipeline = std::function<Result<std::shared_ptr<pipeline::Pipeline>>(const Change&)>;
ChangedPipeline changes_of(pipeline::Pipeline& a);

/// Door 10: prompts to ids. Compared by ids.
using TokenSide = SideOf<pipeline::Prompt, pipeline::Encoding>;
struct TokenEvidence {
  pipeline::Prompt prompt;
  TokenSide a, b;
  std::function<Result<TokenSide>(const Change&)> changed_a;
  const pipeline::Tokenizer* tokenizer_a = nullptr;
  const pipeline::Tokenizer* tokenizer_b = nullptr;
  const plumb_metadata* metadata_a = nullptr;
  const plumb_metadata* metadata_b = nullptr;
};

/// Door 00: conversations to bytes.
struct Conversation {
  pipeline::OrderedJson messages;  // as Pipeline::render takes them
  pipeline::RenderRequest request;
};
/// Of an array of messages, or of an object with "messages".
const pipeline::OrderedJson& messages_of(const pipeline::OrderedJson& conversation);
pipeline::OrderedJson& messages_of(pipeline::OrderedJson& conversation);
using TemplateSide = SideOf<Conversation, std::string>;
struct TemplateEvidence {
  Conversation conversation;
  TemplateSide a, b;
  std::function<Result<TemplateSide>(const Change&)> changed_a;
  std::string template_a;  // its text
  std::string bos;  // the literal that A's vocabulary gives templates; may be empty
};

/// Door 40: one row of logits to a pick.
struct Draw {
  std::vector<float> logits;
  uint64_t step = 0;
  std::vector<int32_t> prompt_ids, generated_ids;
  std::vector<uint64_t> control_bits;  // as plumb_sample_context has them; empty: none
  /// What the stages of the list that remembers (sampler_evidence) do so in front of the draw;
  /// empty: nothing. Other lists take over what they have of its stages.
  std::vector<char> state;
};
struct Drawn {
  int32_t id = -1;
  Left left;  // behind all stages
};
/// The same id of the same candidates, whose probabilities differ by no more than rounding.
bool is_same(const Drawn& a, const Drawn& b);
using SamplerSide = SideOf<Draw, Drawn>;
/// A stage of a list that another library takes the place of.
struct StageInPlace {
  size_t index;
  const plumb_sampler* table;
};
/// The ids over which no repeat reaches under a list of stages; empty: there are none.
using BreakersOf = std::function<std::vector<int32_t>(const config::SamplingConfig&)>;
struct SamplerEvidence {
  Draw draw;
  SamplerSide a, b;
  config::SamplingConfig sampling_a, sampling_b;
  std::function<Result<SamplerSide>(const config::SamplingConfig&, std::optional<StageInPlace>)>
      sampled;
};

/// Doors 50 and 60: generated ids to the text that is shown, and where it ends.
using Ids = std::vector<int32_t>;
using TextSide = SideOf<Ids, ShownText>;
struct DetokenisationEvidence {
  Ids ids;
  TextSide a, b;
  std::function<Result<TextSide>(const Change&)> changed_a;
  pipeline::Pipeline* pipeline_a = nullptr;
  const plumb_metadata* metadata_a = nullptr;
  const plumb_metadata* metadata_b = nullptr;
  const pipeline::Tokenizer* tokenizer_a = nullptr;
  const pipeline::Tokenizer* tokenizer_b = nullptr;
};

/// The pipelines must outlive the evidence.
Result<TokenEvidence> token_evidence(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                     pipeline::Prompt prompt);
Result<TemplateEvidence> template_evidence(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                           Conversation conversation);
Result<DetokenisationEvidence> detokenisation_evidence(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                                       Ids ids);
/// Of two lists of stages, with the seeds of their coins. A side that cannot be made refuses all
/// draws. remembering: one of the two.
SamplerEvidence sampler_evidence(const config::SamplingConfig& a, const config::SamplingConfig& b,
                                 const config::SamplingConfig& remembering, Host& host,
                                 const BreakersOf& breakers, Draw draw);

}  // namespace plumbline::diff
