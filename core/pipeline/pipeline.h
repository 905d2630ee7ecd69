// pipeline.h: a config made real: the parts it names, found, loaded and joined.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/host/host.h"
#include "core/model/decoder.h"
#include "core/model/model_file.h"
#include "core/pipeline/chat_template.h"
#include "core/pipeline/generation.h"
#include "core/pipeline/opened_file.h"
#include "core/pipeline/output_parser.h"
#include "core/pipeline/prompt.h"
#include "core/pipeline/sampler_chain.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::pipeline {

struct RenderRequest {
  int64_t now_unix_s = 0;  // what strftime_now sees
  FinalTurn final_turn = FinalTurn::kAuto;
  std::optional<bool> thinking = {};  // empty: as the config says
};

/// What a config's template section and a request say of a conversation.
ContextRequest context_request(const config::TemplateConfig& config, const RenderRequest& request,
                               std::string_view template_source, SpecialTokens tokens);

/// Parts are made when they are first asked for, so a command pays only for what it uses.
class Pipeline {
 public:
  /// Opens the model file at model_path (the config's source, already resolved to a file or a
  /// folder).
  static Result<std::unique_ptr<Pipeline>> open(const config::PipelineConfig& config, Host& host,
                                                const std::string& model_path);
  ~Pipeline();

  const config::PipelineConfig& config() const { return config_; }
  const model::ModelFile& file() const { return model_.file; }
  const std::string& loader_id() const { return model_.loader_id; }
  Host& host() const { return *host_; }

  Result<Tokenizer*> tokenizer();
  /// What the tokenizer is made of: the config's file, or the model itself.
  Result<const model::ModelFile*> tokenizer_file();
  /// Take the place of what the config's files say, so that one thing can be tried otherwise. To be
  /// called before anything is asked for; the metadata must outlive the pipeline.
  void replace_tokenizer(const plumb_metadata& metadata) { replaced_tokenizer_ = &metadata; }
  void replace_template(std::string text) { template_text_ = std::move(text); }
  /// Of the generations to come; may be called at any time. Fails as open does; then nothing has
  /// changed.
  Result<void> replace_generation(config::GenerationConfig generation);
  /// The template's text: the config's file, or the model's own; empty if there is none.
  Result<std::string_view> template_text();
  /// INVALID_CONFIG if there is no chat template; template_text() asks first.
  Result<ChatTemplate*> chat_template();
  /// The weights are prepared here: the slow part.
  Result<model::Decoder*> decoder();
  const std::vector<std::unique_ptr<model::Backend>>& backends() const { return backends_; }
  ThreadPool& threads();
  /// A new chain of the config's sampler stages for the model's vocabulary, with their breakers.
  Result<SamplerChain> sampler();
  /// The same of other stages and breakers.
  Result<SamplerChain> sampler(const config::SamplingConfig& sampling);

  /// The prompt's bytes for messages, and which of them strangers wrote: the context made complete
  /// as the config says, then the template. Fails as chat_context and the engine do.
  Result<Prompt> render(OrderedJson messages, const RenderRequest& request);
  /// The prompt's ids, with those in front that the model expects and the prompt lacks. Rendered
  /// prompts as encode_rendered says, raw ones as tokenizer.special says.
  Result<Encoding> encode_prompt(const Prompt& prompt);
  /// Whether strangers can forge a turn of rendered prompts.
  Result<RoleForgery> role_forgery();
  /// The control set of template and tokenizer, with what the template writes into conversations of
  /// all roles: prompt.h.
  Result<std::span<const uint64_t>> control_bits();
  /// A new instance of what takes answers to rendered prompts apart; empty: all is content. auto:
  /// the first parser that looks for something that the template names.
  Result<std::optional<OutputParser>> output_parser();
  /// What the config says of an answer's end and text.
  AnswerOptions answer_options() const;
  /// What the config says of a generation; the rest is the caller's to fill in.
  GenerationRequest generation_request(std::vector<int32_t> prompt_ids) const;

 private:
  Pipeline(const config::PipelineConfig& config, Host& host, OpenedFile model,
           std::shared_ptr<const StopSet> stops)
      : config_(config), host_(&host), model_(std::move(model)), stops_(std::move(stops)) {}
  /// The instance of a plugin with these options, made if there is none: its index in backends().
  Result<size_t> backend_at(const std::string& name, const std::string& options_json);
  Result<SpecialTokens> named_tokens();
  /// A conversation of kProbeTexts, behind a turn of another role unless it is empty.
  Result<Prompt> render_probe(const char* first_role);

  config::PipelineConfig config_;
  Host* host_;
  OpenedFile model_;
  std::shared_ptr<const StopSet> stops_;
  std::optional<OpenedFile> tokenizer_file_;  // where the config names another than the model's
  const plumb_metadata* replaced_tokenizer_ = nullptr;
  std::unique_ptr<ThreadPool> threads_;
  std::vector<std::unique_ptr<model::Backend>> backends_;
  std::vector<std::string> backend_options_;  // of each backend
  std::unique_ptr<model::Decoder> decoder_;
  std::optional<Tokenizer> tokenizer_;
  std::optional<ChatTemplate> chat_template_;
  std::optional<std::string> template_text_;
  std::vector<uint64_t> control_bits_;
};

/// Appends the stage of whichever plugin offers it. Fails NOT_FOUND (none does), INVALID_CONFIG.
Result<void> add_stage(SamplerChain& chain, const config::StageConfig& wanted, Host& host);

/// A chain of the stages that a config lists. Fails NOT_FOUND (a stage that no plugin offers),
/// INVALID_CONFIG.
Result<SamplerChain> make_sampler(const config::SamplingConfig& sampling, Host& host,
                                  uint32_t n_vocab);

}  // namespace plumbline::pipeline
