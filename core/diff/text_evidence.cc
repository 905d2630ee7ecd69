#include "core/diff/text_evidence.h"

#include <algorithm>
#include <utility>

#include "core/diff/pick_errors.h"
#include "core/diff/text_doors.h"
#include "core/diff/text_signatures/metadata.h"
#include "plumb/sdk/abi.h"
#include "plumb/sdk/id_bits.h"

namespace plumbline::diff {
namespace {

using pipeline::Pipeline;
using pipeline::SamplerChain;

/// A pipeline with the metadata that it borrows.
struct Made {
  std::unique_ptr<ReplacedMetadata> metadata;
  std::unique_ptr<Pipeline> pipeline;
};

// Draws from a list of stages as if it had come to each draw as the draw says.
class Drawer {
 public:
  static Result<std::shared_ptr<Drawer>> make(const config::SamplingConfig& states_of,
                                              const config::SamplingConfig& sampling, Host& host,
                                              const BreakersOf& breakers, uint32_t n_vocab,
                                              std::optional<StageInPlace> in_place) {
    PLUMB_ASSIGN(SamplerChain remembering, pipeline::make_sampler(states_of, host, n_vocab));
    SamplerChain chain(n_vocab);
    for (size_t i = 0; i < sampling.stages.size(); ++i) {
      const config::StageConfig& stage = sampling.stages[i];
      if (in_place && in_place->index == i) {
        PLUMB_TRY(chain.add(*in_place->table, nullptr, stage.stage, stage.params_json));
      } else {
        PLUMB_TRY(pipeline::add_stage(chain, stage, host));
      }
    }
    if (breakers) chain.set_breakers(breakers(sampling));
    PLUMB_ASSIGN(std::vector<char> fresh, chain.state());
    return std::make_shared<Drawer>(std::move(remembering), std::move(chain), std::move(fresh),
                                    sampling.seed);
  }

  Drawer(SamplerChain remembering, SamplerChain chain, std::vector<char> fresh, uint64_t seed)
      : remembering_(std::move(remembering)),
        chain_(std::move(chain)),
        fresh_(std::move(fresh)),
        seed_(seed) {}

  Result<Drawn> draw(const Draw& draw) {
    const std::vector<uint64_t> no_control(id_words(draw.logits.size()), 0);
    plumb_sample_context context =
        pipeline::sample_context(seed_, draw.prompt_ids, draw.generated_ids,
                                 draw.control_bits.empty() ? no_control : draw.control_bits);
    context.step = draw.step;
    PLUMB_TRY(chain_.set_state(fresh_));
    if (!draw.state.empty()) {
      PLUMB_TRY(remembering_.set_state(draw.state));
      PLUMB_TRY(chain_.take_over(remembering_));
    }
    PLUMB_ASSIGN(const pipeline::Pick pick, chain_.pick(draw.logits, context));
    return Drawn{pick.id, Left::of(chain_.candidates())};
  }

 private:
  SamplerChain remembering_, chain_;
  std::vector<char> fresh_;
  uint64_t seed_;
};

// A function that keeps its pipeline alive.
template <typename Input, typename Output, typename Call>
std::function<Result<SideOf<Input, Output>>(const Change&)> sides_of(ChangedPipeline changed,
                                                                     Call call) {
  return [changed = std::move(changed),
          call](const Change& change) -> Result<SideOf<Input, Output>> {
    PLUMB_ASSIGN(const std::shared_ptr<Pipeline> made, changed(change));
    return SideOf<Input, Output>([made, call](const Input& input) { return call(*made, input); });
  };
}

Result<pipeline::Encoding> encode(Pipeline& side, const pipeline::Prompt& prompt) {
  return side.encode_prompt(prompt);
}

Result<std::string> render(Pipeline& side, const Conversation& conversation) {
  PLUMB_ASSIGN(pipeline::Prompt prompt, side.render(conversation.messages, conversation.request));
  return std::move(prompt.bytes);
}

Result<ShownText> show(Pipeline& side, const Ids& ids) {
  return show_ids(side, ids);
}

}  // namespace

pipeline::OrderedJson& messages_of(pipeline::OrderedJson& conversation) {
  return conversation.is_object() ? conversation["messages"] : conversation;
}
const pipeline::OrderedJson& messages_of(const pipeline::OrderedJson& conversation) {
  return conversation.is_object() ? conversation["messages"] : conversation;
}

ChangedPipeline changes_of(Pipeline& a) {
  return [&a](const Change& change) -> Result<std::shared_ptr<Pipeline>> {
    config::PipelineConfig config = a.config();
    auto made = std::make_shared<Made>();
    if (!change.tokenizer.empty()) {
      PLUMB_ASSIGN(const model::ModelFile* const file, a.tokenizer_file());
      PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, a.tokenizer());
      config.tokenizer.plugin = tokenizer->id();
      made->metadata = std::make_unique<ReplacedMetadata>(file->metadata(), change.tokenizer);
    }
    if (change.config) change.config(config);
    PLUMB_ASSIGN(made->pipeline, Pipeline::open(config, a.host(), a.file().path()));
    if (made->metadata != nullptr) made->pipeline->replace_tokenizer(made->metadata->metadata());
    if (change.template_text) made->pipeline->replace_template(*change.template_text);
    return std::shared_ptr<Pipeline>(made, made->pipeline.get());
  };
}

Result<TokenEvidence> token_evidence(Pipeline& a, Pipeline& b, pipeline::Prompt prompt) {
  TokenEvidence evidence;
  evidence.prompt = std::move(prompt);
  evidence.a = [&a](const pipeline::Prompt& input) { return encode(a, input); };
  evidence.b = [&b](const pipeline::Prompt& input) { return encode(b, input); };
  evidence.changed_a = sides_of<pipeline::Prompt, pipeline::Encoding>(changes_of(a), encode);
  PLUMB_ASSIGN(evidence.tokenizer_a, a.tokenizer());
  PLUMB_ASSIGN(evidence.tokenizer_b, b.tokenizer());
  PLUMB_ASSIGN(const model::ModelFile* const file_a, a.tokenizer_file());
  PLUMB_ASSIGN(const model::ModelFile* const file_b, b.tokenizer_file());
  evidence.metadata_a = &file_a->metadata();
  evidence.metadata_b = &file_b->metadata();
  return evidence;
}

Result<TemplateEvidence> template_evidence(Pipeline& a, Pipeline& b, Conversation conversation) {
  TemplateEvidence evidence;
  evidence.conversation = std::move(conversation);
  evidence.a = [&a](const Conversation& input) { return render(a, input); };
  evidence.b = [&b](const Conversation& input) { return render(b, input); };
  evidence.changed_a = sides_of<Conversation, std::string>(changes_of(a), render);
  PLUMB_ASSIGN(const std::string_view text, a.template_text());
  evidence.template_a = text;
  PLUMB_ASSIGN(const pipeline::Tokenizer* const tokenizer, a.tokenizer());
  if (tokenizer->info().bos_id >= 0) {
    PLUMB_ASSIGN(const std::string_view bos, tokenizer->piece(tokenizer->info().bos_id, false));
    evidence.bos = bos;
  }
  return evidence;
}

bool is_same(const Drawn& a, const Drawn& b) {
  if (a.id != b.id || a.left.ids != b.left.ids) return false;
  if (a.left == b.left) return true;
  return total_variation(Distribution::of(a.left), Distribution::of(b.left)) <= kDrawRounding;
}

SamplerEvidence sampler_evidence(const config::SamplingConfig& a, const config::SamplingConfig& b,
                                 const config::SamplingConfig& remembering, Host& host,
                                 const BreakersOf& breakers, Draw draw) {
  SamplerEvidence evidence;
  const auto n_vocab = static_cast<uint32_t>(draw.logits.size());
  evidence.draw = std::move(draw);
  evidence.sampling_a = a;
  evidence.sampling_b = b;
  evidence.sampled = [&host, n_vocab, remembering, breakers](
                         const config::SamplingConfig& sampling,
                         std::optional<StageInPlace> in_place) -> Result<SamplerSide> {
    PLUMB_ASSIGN(const std::shared_ptr<Drawer> drawer,
                 Drawer::make(remembering, sampling, host, breakers, n_vocab, in_place));
    return SamplerSide([drawer](const Draw& input) { return drawer->draw(input); });
  };
  const auto side = [&](const config::SamplingConfig& sampling) {
    auto made = evidence.sampled(sampling, std::nullopt);
    if (made) return *std::move(made);
    return SamplerSide([error = made.error()](const Draw&) -> Result<Drawn> { return error; });
  };
  evidence.a = side(evidence.sampling_a);
  evidence.b = side(evidence.sampling_b);
  return evidence;
}

Result<DetokenisationEvidence> detokenisation_evidence(Pipeline& a, Pipeline& b, Ids ids) {
  DetokenisationEvidence evidence;
  evidence.ids = std::move(ids);
  evidence.a = [&a](const Ids& input) { return show(a, input); };
  evidence.b = [&b](const Ids& input) { return show(b, input); };
  evidence.changed_a = sides_of<Ids, ShownText>(changes_of(a), show);
  evidence.pipeline_a = &a;
  PLUMB_ASSIGN(evidence.tokenizer_a, a.tokenizer());
  PLUMB_ASSIGN(evidence.tokenizer_b, b.tokenizer());
  PLUMB_ASSIGN(const model::ModelFile* const file_a, a.tokenizer_file());
  PLUMB_ASSIGN(const model::ModelFile* const file_b, b.tokenizer_file());
  evidence.metadata_a = &file_a->metadata();
  evidence.metadata_b = &file_b->metadata();
  return evidence;
}

}  // namespace plumbline::diff
