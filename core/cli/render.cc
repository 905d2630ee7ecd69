// render: messages, or a template's variables, to the bytes of a prompt.
#include <memory>

#include "core/cli/session.h"
#include "core/cli/turn_options.h"
#include "core/cli/verbs.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct RenderOptions {
  PipelineOptions pipeline;
  std::string from;
  std::string engine;
  std::string undefined;
  TurnOptions turns;
  bool json = false;
};

// What transformers gives a template beside the caller's variables.
pipeline::SpecialTokens tokens_beside(Session& session, const std::string& path) {
  if (path.ends_with(".jinja")) return {};
  const auto opened =
      value_or_stop(pipeline::open_file(session.host(), config::kAuto, path), kModelFile);
  return value_or_stop(pipeline::special_tokens(
                           pipeline::metadata_text(opened.file, "tokenizer.huggingface.config")),
                       kModelFile);
}

// A template without a model. Messages are completed; an object is what the template sees, as it
// is.
pipeline::Rendered render_alone(Session& session, const RenderOptions& options,
                                OrderedJson context) {
  const config::TemplateConfig& wanted = session.config().config.chat_template;
  const auto engine =
      value_or_stop(session.host().find<plumb_template_engine>({.pin = wanted.plugin}), kPlugin);
  const std::string source = value_or_stop(
      pipeline::chat_template_text(session.host(), options.from, wanted.name), kModelFile);
  const auto compiled =
      value_or_stop(pipeline::ChatTemplate::create(engine.id, *engine.table, engine.host, source,
                                                   wanted.undefined),
                    kModelFile);
  const pipeline::RenderRequest request = options.turns.request();
  const pipeline::SpecialTokens tokens = tokens_beside(session, options.from);
  if (!context.is_array()) {
    if (context.is_object()) {
      for (const auto& [name, literal] : tokens) context.emplace(name, literal);
    }
    return value_or_stop(compiled.render(context, request.now_unix_s), kUsage);
  }
  return value_or_stop(
      pipeline::render_conversation(compiled, std::move(context),
                                    pipeline::context_request(wanted, request, source, tokens),
                                    request.now_unix_s),
      kUsage);
}

int render(RenderOptions& options) {
  if (!options.engine.empty())
    options.pipeline.overrides.push_back("template.plugin=" + options.engine);
  if (!options.undefined.empty())
    options.pipeline.overrides.push_back("template.undefined=" + options.undefined);
  const bool is_model = options.from.ends_with(".gguf");
  if (is_model) options.pipeline.overrides.push_back("model.source.path=" + options.from);
  OrderedJson context = parse_json(read_all("-"), "stdin");
  Session session(options.pipeline);
  if (!options.from.empty() && !is_model) {
    if (options.json) {
      stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                    "--json beside --from " + options.from +
                        ": a template alone has no tokenizer; leave one of the two out"});
    }
    print(render_alone(session, options, std::move(context)).bytes);
    return kDone;
  }
  pipeline::Pipeline& pipeline = session.pipeline();
  const pipeline::Prompt prompt =
      part_or_stop(pipeline.render(std::move(context), options.turns.request()));
  if (!options.json) {
    print(prompt.bytes);
    return kDone;
  }
  const pipeline::Encoding encoding = part_or_stop(pipeline.encode_prompt(prompt));
  print_json({{"prompt", prompt.bytes},
              {"untrusted", prompt.untrusted ? shown(*prompt.untrusted) : OrderedJson()},
              {"ids", encoding.ids},
              {"role_forgery", shown(part_or_stop(pipeline.role_forgery()))}});
  return kDone;
}

}  // namespace

void add_render(CLI::App& app, int& exit) {
  auto options = std::make_shared<RenderOptions>();
  CLI::App* verb = app.add_subcommand(
      "render", "Render a chat template: context JSON on stdin, bytes on stdout");
  options->pipeline.add_to(*verb);
  verb->add_option("--from", options->from,
                   "A file with a template instead of the model's own: template.jinja, "
                   "tokenizer_config.json or a folder. Messages are completed; an object is what "
                   "the template sees, as it is, with the special tokens of a "
                   "tokenizer_config.json where it has none");
  verb->add_option("--engine", options->engine, "Template engine plugin (default: the config's)");
  verb->add_option("--undefined", options->undefined,
                   "Undefined variables: strict, semi_strict or hf");
  options->turns.add_to(*verb);
  verb->add_flag("--json", options->json,
                 "Prompt, the byte ranges that strangers wrote, ids, and whether roles can be "
                 "forged");
  verb->footer(
      "Examples:\n"
      "  echo '[{\"role\": \"user\", \"content\": \"Hi\"}]' | plumb render\n"
      "  plumb render --from chat.jinja --undefined hf < context.json");
  verb->callback([options, &exit] { exit = render(*options); });
}

}  // namespace plumbline::cli
