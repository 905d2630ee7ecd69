// run: one generation, streamed.
#include <memory>
#include <new>

#include "core/base/os/terminal.h"
#include "core/cli/prompt_options.h"
#include "core/cli/session.h"
#include "core/cli/verbs.h"
#include "core/pipeline/diagnostics.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;
using pipeline::OutputEvent;
using pipeline::Stage;

struct RunOptions {
  PipelineOptions pipeline;
  PromptOptions prompt;
  bool json = false;
  bool quiet = false;
};

/// One generation, and what is known of it so far, whatever ends it.
class Run {
 public:
  explicit Run(RunOptions& options) : options_(options), session_(options.pipeline) {}

  int go() {
    open();
    encode();
    make_parts();
    prepare();
    generate();
    if (options_.json) {
      print_json(report());
    } else {
      print("\n");
      if (!options_.quiet) summary();
    }
    return made_.stop_reason == pipeline::StopReason::kCancelled ? kInterrupted : kDone;
  }

  pipeline::Diagnostics& diagnostics() { return seen_; }

 private:
  pipeline::Pipeline& pipeline() { return session_.pipeline(); }

  void open() {
    const config::PipelineConfig& config = session_.config().config;
    seen_.profile = config.sampling.profile;
    seen_.seed = config.sampling.seed;
    seen_.enter(Stage::kPlugins);
    Host& host = session_.host();
    seen_.enter(Stage::kModelSource);
    const std::string& path = session_.model_path();
    seen_.enter(Stage::kModelHeader);
    const model::ModelFile& file = pipeline().file();
    if (options_.json) {
      const std::string sha256 = model_sha256(config.model.source, host, path);
      seen_.model = value_or_stop(pipeline::identity_of(file, sha256), kModelFile);
    }
    seen_.components.push_back({"loader", pipeline().loader_id()});
    seen_.n_threads = pipeline().threads().n_threads();
    seen_.enter(Stage::kTokenizer);
    seen_.components.push_back({"tokenizer", part_or_stop(pipeline().tokenizer())->id()});
  }

  void encode() {
    seen_.enter(Stage::kTemplate);
    prompt_ = options_.prompt.make(pipeline());
    if (prompt_.is_rendered) {
      seen_.components.push_back({"template", part_or_stop(pipeline().chat_template())->id()});
      if (options_.json) seen_.role_forgery = part_or_stop(pipeline().role_forgery());
    }
    seen_.enter(Stage::kPrompt);
    encoding_ = value_or_stop(pipeline().encode_prompt(prompt_), kModelFile);
    seen_.generation.emplace().n_prompt_tokens = encoding_.ids.size();
  }

  // What takes ids apart and puts text together: made before the weights, which take long.
  void make_parts() {
    seen_.enter(Stage::kPlugins);
    sampler_.emplace(part_or_stop(pipeline().sampler()));
    if (!prompt_.is_rendered) return;
    auto parser = part_or_stop(pipeline().output_parser());
    if (!parser) return;
    parser_.emplace(*std::move(parser));
    seen_.components.push_back({"parser", parser_->id()});
    value_or_stop(parser_->begin(prompt_.bytes), kPlugin);
  }

  void prepare() {
    seen_.enter(Stage::kWeights);
    part_or_stop(pipeline().decoder());
    seen_.load_status = pipeline::LoadStatus::kKvAllocationSuccess;
    for (const auto& backend : pipeline().backends())
      seen_.kernels.push_back({backend->id(), backend->numerics()});
  }

  void generate() {
    model::Decoder& decoder = *part_or_stop(pipeline().decoder());
    const pipeline::Tokenizer& tokenizer = *part_or_stop(pipeline().tokenizer());
    pipeline::GenerationRequest request = pipeline().generation_request(encoding_.ids);
    request.cancel = &catch_interrupt();
    if (parser_) request.answer.shown_control_ids = parser_->control_ids(tokenizer);
    request.on_text = [this](std::string_view text) { take(text, false); };
    pipeline::EndWatch ends(tokenizer);
    if (options_.json) {
      request.on_logits = [&](std::span<const float> logits) { ends.on_logits(logits); };
      request.on_pick = [&](const pipeline::Pick& pick) { ends.on_pick(pick); };
    }
    seen_.enter(Stage::kGeneration);
    const auto generator = value_or_stop(
        pipeline::Generator::create(*sampler_, tokenizer, std::move(request)), kModelFile);
    auto done = pipeline::run(decoder, *generator);
    made_ = generator->generation();
    take({}, true);
    made_.stop_reason = parsed_.stop_reason(made_.stop_reason);
    seen_.set_answer(made_, decoder);
    seen_.generation->n_end_tokens_passed_over = ends.n_passed_over();
    seen_.kv = pipeline::kv_facts(pipeline().config().context, decoder);
    value_or_stop(std::move(done), kModelFile);
    value_or_stop(std::move(parse_error_), kPlugin);
  }

  // A piece of the answer's text; the parser's own end behind the last.
  void take(std::string_view text, bool is_last) {
    const auto sink = [this](const OutputEvent& event) { show(event); };
    if (!parser_) return show({OutputEvent::Kind::kContent, text});
    if (parse_error_) parse_error_ = is_last ? parser_->end(sink) : parser_->feed(text, sink);
  }

  // Content is the data; the rest is for the person at the terminal.
  void show(const OutputEvent& event) {
    if (auto added = parsed_.add(event); !added) {
      if (parse_error_) parse_error_ = std::move(added);
      return;
    }
    if (options_.json) return;
    if (event.kind == OutputEvent::Kind::kContent) {
      // A model's bytes are data, and none of them a command to a terminal.
      return is_at_terminal_ ? print(harmless(event.text)) : print(event.text);
    }
    if (options_.quiet) return;
    if (event.kind == OutputEvent::Kind::kToolCall) {
      note("[calls " + std::string(event.text) + "]");
    } else {
      aside(event.text);
    }
  }

  OrderedJson report() const {
    return {{"text", made_.text},
            {"content", parsed_.content},
            {"reasoning", parsed_.reasoning},
            {"tool_calls", parsed_.tool_calls},
            {"prompt", prompt_.bytes},
            {"prompt_ids", encoding_.ids},
            {"prompt_spans", shown(encoding_.spans)},
            {"ids", made_.ids},
            {"spans", shown(made_.spans)},
            {"stop_reason", pipeline::stop_reason_name(made_.stop_reason)},
            {"diagnostics", diagnostics_json(seen_)}};
  }

  void summary() const {
    const auto n_prompt = static_cast<double>(encoding_.ids.size());
    char line[200];
    std::snprintf(line, sizeof line,
                  "[%zu prompt tokens, %.0f/s; %zu generated, %.1f/s; stopped by %s]",
                  encoding_.ids.size(), made_.prefill_s > 0 ? n_prompt / made_.prefill_s : 0,
                  made_.ids.size(), pipeline::decode_speed(made_.ids.size(), made_.decode_s),
                  std::string(stop_reason_name(made_.stop_reason)).c_str());
    note(line);
  }

  RunOptions& options_;
  const bool is_at_terminal_ = os::is_terminal(os::Stream::kOutput);
  Session session_;
  pipeline::Diagnostics seen_;
  pipeline::Prompt prompt_;
  pipeline::Encoding encoding_;
  std::optional<pipeline::SamplerChain> sampler_;
  std::optional<pipeline::OutputParser> parser_;
  Result<void> parse_error_;  // the first
  pipeline::ParsedAnswer parsed_;
  pipeline::Generation made_;
};

int run(RunOptions& options) {
  Run run(options);
  if (!options.json) return run.go();
  // The payload is there however it ends.
  const auto report = [&](const Error& error) {
    run.diagnostics().fail(error);
    print_json({{"diagnostics", diagnostics_json(run.diagnostics())}});
  };
  try {
    return run.go();
  } catch (const Failure& failure) {
    report(failure.error);
    throw;
  } catch (const std::bad_alloc&) {
    report({PLUMB_INTERNAL, "out of memory"});
    throw;
  }
}

}  // namespace

void add_run(CLI::App& app, int& exit) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb =
      app.add_subcommand("run", "Generate a continuation or an answer, streamed to stdout");
  options->pipeline.add_to(*verb);
  options->prompt.add_to(*verb);
  verb->add_flag("--json", options->json,
                 "Print text, ids and diagnostics as JSON when done, the diagnostics also of a "
                 "failure");
  verb->add_flag("-q,--quiet", options->quiet, "Nothing but the answer: no reasoning, no summary");
  verb->footer(
      "Examples:\n"
      "  plumb run -p \"Why is the sky blue?\"\n"
      "  plumb run gemma3 --raw -p \"The capital of France is\" --set "
      "sampling.profile=diff-greedy\n"
      "  plumb run --messages talk.json --json\n"
      "  plumb run --messages begun.json --turn continue --thinking off");
  verb->callback([options, &exit] { exit = run(*options); });
}

}  // namespace plumbline::cli
