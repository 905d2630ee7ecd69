// pipeline.h: a config made real: the parts it names, found, loaded and joined.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/pipeline_config.h"
#include "core/host/host.h"
#include "core/model/decoder.h"
#include "core/model/model_file.h"
#include "core/pipeline/chat_template.h"
#include "core/pipeline/generation.h"
#include "core/pipeline/opened_file.h"
#include "core/pipeline/sampler_chain.h"
#include "core/pipeline/tokenizer.h"

namespace plumbline::pipeline {

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

  Result<Tokenizer*> tokenizer();
  /// The template's text: the config's file, or the model's own; empty if there is none.
  Result<std::string> template_text();
  /// INVALID_CONFIG if there is no chat template; template_text() asks first.
  Result<ChatTemplate*> chat_template();
  /// The weights are prepared here: the slow part.
  Result<model::Decoder*> decoder();
  const std::vector<std::unique_ptr<model::Backend>>& backends() const { return backends_; }
  ThreadPool& threads();
  /// A new chain of the config's sampler stages for the model's vocabulary.
  Result<SamplerChain> sampler();

  /// The prompt's bytes for messages: canonical context, then the template.
  Result<std::string> render(OrderedJson messages, bool add_generation_prompt, int64_t now_unix_s);
  /// The prompt's ids: encoded as the config says, with the beginning-of-sequence token if the
  /// model wants one.
  Result<Encoding> encode_prompt(std::string_view prompt);
  /// What the config says of a generation; the rest is the caller's to fill in.
  GenerationRequest generation_request(std::vector<int32_t> prompt_ids) const;

 private:
  Pipeline(const config::PipelineConfig& config, Host& host, OpenedFile model)
      : config_(config), host_(&host), model_(std::move(model)) {}
  Result<size_t> backend_at(const std::string& name);
  Result<const model::ModelFile*> tokenizer_file();
  Result<SpecialTokens> named_tokens();

  config::PipelineConfig config_;
  Host* host_;
  OpenedFile model_;
  std::optional<OpenedFile> tokenizer_file_;  // where the config names another than the model's
  std::unique_ptr<ThreadPool> threads_;
  std::vector<std::unique_ptr<model::Backend>> backends_;
  std::unique_ptr<model::Decoder> decoder_;
  std::optional<Tokenizer> tokenizer_;
  std::optional<ChatTemplate> chat_template_;
};

/// A chain of the stages that a config lists. Fails NOT_FOUND (a stage that no plugin offers),
/// INVALID_CONFIG.
Result<SamplerChain> make_sampler(const config::SamplingConfig& sampling, Host& host,
                                  uint32_t n_vocab);

}  // namespace plumbline::pipeline
