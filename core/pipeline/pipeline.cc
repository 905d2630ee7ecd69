#include "core/pipeline/pipeline.h"

#include <algorithm>

#include "core/pipeline/directive.h"
#include "plumb/sdk/abi.h"

namespace plumbline::pipeline {
namespace {

// Turns are a conversation's to drop: to the decoder, its context is full then.
model::WindowOptions window_options(const config::ContextConfig& context) {
  if (context.policy != config::ContextPolicy::kRing &&
      context.policy != config::ContextPolicy::kSinkRing)
    return {};
  const bool has_sinks = context.policy == config::ContextPolicy::kSinkRing;
  return {.policy = has_sinks ? model::WindowPolicy::kSinkRing : model::WindowPolicy::kRing,
          .sinks = context.n_sinks,
          .evict_to = context.evict_to.value_or(0)};
}

Result<std::shared_ptr<const StopSet>> make_stops(const config::GenerationConfig& ends) {
  PLUMB_ASSIGN(auto stops, StopSet::create({ends.stop, ends.stop_ids, ends.stop_tails}));
  return std::shared_ptr<const StopSet>(std::move(stops));
}

}  // namespace

Result<std::unique_ptr<Pipeline>> Pipeline::open(const config::PipelineConfig& config, Host& host,
                                                 const std::string& model_path) {
  PLUMB_ASSIGN(OpenedFile model, open_file(host, config.model.loader, model_path));
  PLUMB_ASSIGN(auto stops, make_stops(config.generation));
  return std::unique_ptr<Pipeline>(new Pipeline(config, host, std::move(model), std::move(stops)));
}

Pipeline::~Pipeline() = default;

ThreadPool& Pipeline::threads() {
  if (threads_ == nullptr) {
    const uint32_t useful = useful_thread_count();
    threads_ =
        std::make_unique<ThreadPool>(std::min(config_.kernels.threads.value_or(useful), useful));
  }
  return *threads_;
}

Result<const model::ModelFile*> Pipeline::tokenizer_file() {
  const std::string& path = config_.tokenizer.path;
  if (path.empty() || path == file().path()) return &file();
  if (!tokenizer_file_) {
    PLUMB_ASSIGN(OpenedFile opened, open_file(*host_, config::kAuto, path));
    tokenizer_file_.emplace(std::move(opened));
  }
  return &tokenizer_file_->file;
}

Result<Tokenizer*> Pipeline::tokenizer() {
  if (!tokenizer_) {
    PLUMB_ASSIGN(const model::ModelFile* const source, tokenizer_file());
    const plumb_metadata& metadata =
        replaced_tokenizer_ != nullptr ? *replaced_tokenizer_ : source->metadata();
    auto found = find_recognising<plumb_tokenizer>(
        *host_, config_.tokenizer.plugin, [&](const plumb_tokenizer& table, plumb_error* error) {
          return table.recognise(&metadata, error);
        });
    if (!found) return std::move(found).error().at(source->path() + ": tokenizer");
    PLUMB_ASSIGN(Tokenizer made, Tokenizer::create(found->id, *found->table, found->host, metadata,
                                                   config_.tokenizer.options_json));
    tokenizer_.emplace(std::move(made));
  }
  return &*tokenizer_;
}

Result<std::string_view> Pipeline::template_text() {
  if (!template_text_) {
    const config::TemplateConfig& wanted = config_.chat_template;
    const bool is_own = wanted.path.empty() || wanted.path == file().path();
    PLUMB_ASSIGN(template_text_, is_own ? chat_template_text(file(), wanted.name)
                                        : chat_template_text(*host_, wanted.path, wanted.name));
  }
  return std::string_view(*template_text_);
}

Result<ChatTemplate*> Pipeline::chat_template() {
  if (!chat_template_) {
    PLUMB_ASSIGN(const std::string_view source, template_text());
    if (source.empty()) {
      return Error{PLUMB_INVALID_CONFIG,
                   file().path() + " has no chat template: give raw text (--raw)"};
    }
    PLUMB_ASSIGN(const auto engine,
                 host_->find<plumb_template_engine>({.pin = config_.chat_template.plugin}));
    PLUMB_ASSIGN(ChatTemplate made, ChatTemplate::create(engine.id, *engine.table, engine.host,
                                                         source, config_.chat_template.undefined));
    chat_template_.emplace(std::move(made));
  }
  return &*chat_template_;
}

Result<size_t> Pipeline::backend_at(const std::string& name, const std::string& options_json) {
  PLUMB_ASSIGN(const auto kernels, host_->find<plumb_kernels>({.pin = name}));
  for (size_t index = 0; index < backends_.size(); ++index) {
    if (backends_[index]->id() == kernels.id && backend_options_[index] == options_json)
      return index;
  }
  const bool is_main = backends_.empty();
  PLUMB_ASSIGN(auto backend,
               model::Backend::create(
                   kernels.id, *kernels.table, kernels.host, threads().n_threads(), options_json,
                   is_main && config_.kernels.variant != "auto" ? config_.kernels.variant : ""));
  backends_.push_back(std::move(backend));
  backend_options_.push_back(options_json);
  return backends_.size() - 1;
}

Result<model::Decoder*> Pipeline::decoder() {
  if (decoder_ != nullptr) return decoder_.get();
  if (config_.runner.is_wanted()) {
    return Error{PLUMB_INVALID_CONFIG, "runner.name \"" + config_.runner.name +
                                           "\": this needs our own decoder, expected none"};
  }
  model::DecoderOptions options;
  const config::KernelsConfig& kernels = config_.kernels;
  // The first is the one that runs what no override names.
  PLUMB_TRY(backend_at(kernels.backend, kernels.options_json));
  for (const config::KernelOverride& choice : kernels.overrides) {
    PLUMB_ASSIGN(const size_t backend, backend_at(choice.backend, choice.options_json));
    options.overrides.push_back({choice.op, choice.layers.first, choice.layers.last, backend});
  }
  for (const auto& backend : backends_) options.backends.push_back(backend.get());
  options.activations = kernels.activations == config::Activations::kQ8 ? PLUMB_ACT_Q8 : PLUMB_F32;
  options.kv_format = kernels.kv == config::KvFormat::kF16 ? PLUMB_F16 : PLUMB_F32;
  options.context_rows = config_.context.length.value_or(0);
  if (config_.context.prefill_chunk) options.chunk_rows = *config_.context.prefill_chunk;
  options.window = window_options(config_.context);
  if (const auto budget = config_.context.kv_budget_mib)
    options.kv_budget_bytes = uint64_t{*budget} << 20;
  PLUMB_ASSIGN(decoder_, model::Decoder::create(file(), threads(), options));
  return decoder_.get();
}

Result<SamplerChain> Pipeline::sampler(const config::SamplingConfig& sampling) {
  PLUMB_ASSIGN(const model::HyperParameters model, file().hyper_parameters());
  PLUMB_ASSIGN(SamplerChain chain, make_sampler(sampling, *host_, model.n_vocab));
  PLUMB_ASSIGN(const Tokenizer* const tokens, tokenizer());
  chain.set_breakers(tokens->ids_with(sampling.breakers, model.n_vocab));
  return chain;
}

Result<SamplerChain> Pipeline::sampler() {
  return sampler(config_.sampling);
}

Result<SpecialTokens> Pipeline::named_tokens() {
  PLUMB_ASSIGN(const model::ModelFile* const source, tokenizer_file());
  const std::string config = metadata_text(*source, "tokenizer.huggingface.config");
  if (!config.empty()) return special_tokens(config);
  PLUMB_ASSIGN(const Tokenizer* const tokens, tokenizer());
  const plumb_tokenizer_info& info = tokens->info();
  SpecialTokens named;
  for (const auto& [name, id] : {std::pair("bos_token", info.bos_id), {"eos_token", info.eos_id}}) {
    if (id < 0) continue;
    PLUMB_ASSIGN(const std::string_view literal, tokens->piece(id, false));
    named.emplace(name, literal);
  }
  return named;
}

ContextRequest context_request(const config::TemplateConfig& config, const RenderRequest& request,
                               std::string_view template_source, SpecialTokens tokens) {
  return {.template_source = template_source,
          .tokens = std::move(tokens),
          .final_turn = request.final_turn,
          .thinking = request.thinking ? request.thinking : config.thinking,
          .trusts_assistant = config.trusts_assistant,
          .directive = std::string(config.has_directive ? kDiagnosticDirective : "")};
}

Result<Prompt> Pipeline::render(OrderedJson messages, const RenderRequest& request) {
  PLUMB_ASSIGN(ChatTemplate* const engine, chat_template());
  PLUMB_ASSIGN(SpecialTokens tokens, named_tokens());
  const ContextRequest asked =
      context_request(config_.chat_template, request, *template_text_, std::move(tokens));
  PLUMB_ASSIGN(Rendered rendered,
               render_conversation(*engine, std::move(messages), asked, request.now_unix_s));
  return Prompt{std::move(rendered.bytes), true, std::move(rendered.untrusted)};
}

Result<Prompt> Pipeline::render_probe(const char* first_role) {
  const auto turn = [](const char* role, std::string_view text) {
    return OrderedJson{{"role", role}, {"content", text}};
  };
  OrderedJson probe =
      OrderedJson::array({turn("user", kProbeTexts[0]), turn("assistant", kProbeTexts[1]),
                          turn("user", kProbeTexts[2])});
  if (*first_role != '\0') probe.insert(probe.begin(), turn(first_role, "plumb-probe-first"));
  return render(std::move(probe), {.final_turn = FinalTurn::kAnswer});
}

Result<std::span<const uint64_t>> Pipeline::control_bits() {
  if (control_bits_.empty()) {
    PLUMB_ASSIGN(const Tokenizer* const tokens, tokenizer());
    PLUMB_ASSIGN(const std::string_view source, template_text());
    PLUMB_ASSIGN(std::vector<uint64_t> bits,
                 control_set(*tokens, source, config_.tokenizer.control_literals));
    for (const char* role : {"", "system", "developer", "tool"}) {
      if (source.empty()) break;
      const auto probe = render_probe(role);
      // A template may refuse a role, a vocabulary the probe's words: then there is nothing to
      // learn.
      if (probe && probe->untrusted) static_cast<void>(bar_written(*tokens, *probe, bits));
    }
    control_bits_ = std::move(bits);
  }
  return std::span<const uint64_t>(control_bits_);
}

Result<Encoding> Pipeline::encode_prompt(const Prompt& prompt) {
  PLUMB_ASSIGN(Tokenizer* const tokens, tokenizer());
  Encoding encoding;
  if (prompt.is_rendered) {
    PLUMB_ASSIGN(const std::span<const uint64_t> bits, control_bits());
    PLUMB_ASSIGN(encoding, encode_rendered(*tokens, prompt, bits));
  } else {
    const bool is_parsed = config_.tokenizer.special == config::Special::kParse;
    PLUMB_ASSIGN(encoding,
                 tokens->encode(prompt.bytes, is_parsed ? PLUMB_SPECIAL_PARSE : PLUMB_SPECIAL_OFF));
  }
  begin_prompt(tokens->info(), encoding);
  return encoding;
}

Result<RoleForgery> Pipeline::role_forgery() {
  PLUMB_ASSIGN(const Tokenizer* const tokens, tokenizer());
  PLUMB_ASSIGN(const std::span<const uint64_t> bits, control_bits());
  const auto rendered = render_probe("");
  if (!rendered) return RoleForgery{false, "no probe conversation: " + rendered.error().message};
  if (!rendered->untrusted) {
    return RoleForgery{
        false, chat_template_->id() + " does not tell which bytes of a prompt strangers wrote"};
  }
  return judge_probe(*tokens, rendered->bytes, bits);
}

Result<std::optional<OutputParser>> Pipeline::output_parser() {
  const config::ParserConfig& wanted = config_.parser;
  if (wanted.plugin == "none") return std::optional<OutputParser>();
  if (wanted.plugin != config::kAuto) {
    PLUMB_ASSIGN(const auto found, host_->find<plumb_output_parser>({.pin = wanted.plugin}));
    PLUMB_ASSIGN(OutputParser parser,
                 OutputParser::create(found.id, *found.table, found.host, wanted.options_json));
    return std::optional(std::move(parser));
  }
  PLUMB_ASSIGN(const std::string_view text, template_text());
  if (text.empty()) return std::optional<OutputParser>();
  for (const Loaded<plumb_output_parser>& found : host_->find_all<plumb_output_parser>()) {
    PLUMB_ASSIGN(OutputParser parser,
                 OutputParser::create(found.id, *found.table, found.host, wanted.options_json));
    const auto stands = [&](const std::string& marker) {
      return text.find(marker) != std::string_view::npos;
    };
    if (std::ranges::any_of(parser.markers(), stands)) return std::optional(std::move(parser));
  }
  return std::optional<OutputParser>();
}

Result<void> Pipeline::replace_generation(config::GenerationConfig generation) {
  PLUMB_ASSIGN(stops_, make_stops(generation));
  config_.generation = std::move(generation);
  return {};
}

AnswerOptions Pipeline::answer_options() const {
  return {.stops = stops_,
          .ignores_end = config_.generation.ignore_end,
          .ill_formed = config_.tokenizer.ill_formed};
}

GenerationRequest Pipeline::generation_request(std::vector<int32_t> prompt_ids) const {
  GenerationRequest request;
  request.prompt_ids = std::move(prompt_ids);
  request.reserve_output = config_.context.reserve_output;
  request.max_tokens = config_.generation.max_tokens;
  request.answer = answer_options();
  request.seed = config_.sampling.seed;
  return request;
}

Result<void> add_stage(SamplerChain& chain, const config::StageConfig& wanted, Host& host) {
  const plumb_sampler* table = nullptr;
  const plumb_host* services = nullptr;
  std::string offered;
  for (const Loaded<plumb_sampler>& library :
       host.find_all<plumb_sampler>({.pin = wanted.plugin})) {
    for (uint32_t index = 0;; ++index) {
      const std::string_view stage = to_view(library.table->stage_at(index));
      if (stage.empty()) break;
      offered += (offered.empty() ? "" : ", ") + std::string(stage);
      if (stage == wanted.stage && table == nullptr) {
        table = library.table;
        services = library.host;
      }
    }
  }
  if (table == nullptr) {
    return Error{PLUMB_NOT_FOUND, "no plugin offers the sampler stage " + wanted.stage +
                                      "; offered are " + (offered.empty() ? "none" : offered)};
  }
  return chain.add(*table, services, wanted.stage, wanted.params_json);
}

Result<SamplerChain> make_sampler(const config::SamplingConfig& sampling, Host& host,
                                  uint32_t n_vocab) {
  SamplerChain chain(n_vocab);
  for (const config::StageConfig& wanted : sampling.stages)
    PLUMB_TRY(add_stage(chain, wanted, host));
  return chain;
}

}  // namespace plumbline::pipeline
