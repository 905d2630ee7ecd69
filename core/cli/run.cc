// run: one generation, streamed.
#include <memory>

#include "core/cli/prompt_options.h"
#include "core/cli/session.h"
#include "core/cli/verbs.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct RunOptions {
  PipelineOptions pipeline;
  PromptOptions prompt;
  bool json = false;
  bool quiet = false;
};

// Of the tokens behind the first, whose time is the prefill's.
double decode_tokens_per_s(const pipeline::Generation& generation) {
  return generation.decode_s > 0
             ? static_cast<double>(generation.ids.size() - 1) / generation.decode_s
             : 0;
}

// The payload of --json. What can be reproduced bit for bit is apart from what cannot.
OrderedJson report(const pipeline::Prompt& prompt, const pipeline::Encoding& encoding,
                   const pipeline::Generation& generation, Session& session) {
  pipeline::Pipeline& pipeline = session.pipeline();
  model::Decoder& decoder = *part_or_stop(pipeline.decoder());
  OrderedJson backends = OrderedJson::array();
  for (const auto& backend : pipeline.backends()) backends.push_back(backend->id());
  return {{"text", generation.text},
          {"prompt", prompt.bytes},
          {"prompt_ids", encoding.ids},
          {"prompt_spans", shown(encoding.spans)},
          {"ids", generation.ids},
          {"spans", shown(generation.spans)},
          {"stop_reason", pipeline::stop_reason_name(generation.stop_reason)},
          {"diagnostics",
           {{"stable",
             {{"model", decoder.hyper_parameters().name},
              {"architecture", decoder.hyper_parameters().architecture},
              {"loader", pipeline.loader_id()},
              {"tokenizer", part_or_stop(pipeline.tokenizer())->id()},
              {"backends", backends},
              {"role_forgery",
               prompt.is_rendered ? shown(part_or_stop(pipeline.role_forgery())) : OrderedJson()},
              {"seed", pipeline.config().sampling.seed},
              {"context_rows", decoder.capacity_rows()},
              {"used_rows", decoder.n_past()},
              {"kv_bytes", decoder.kv_bytes_per_row() * decoder.n_past()},
              {"backend_copies", decoder.counters().n_copies}}},
            {"volatile",
             {{"threads", pipeline.threads().n_threads()},
              {"prefill_s", generation.prefill_s},
              {"time_to_first_token_s", generation.time_to_first_token_s},
              {"decode_s", generation.decode_s},
              {"decode_tokens_per_s", decode_tokens_per_s(generation)}}}}}};
}

void summary(size_t n_prompt, const pipeline::Generation& generation) {
  char line[200];
  const double prefill = generation.prefill_s > 0 ? n_prompt / generation.prefill_s : 0;
  std::snprintf(line, sizeof line,
                "[%zu prompt tokens, %.0f/s; %zu generated, %.1f/s; stopped by %s]", n_prompt,
                prefill, generation.ids.size(), decode_tokens_per_s(generation),
                std::string(stop_reason_name(generation.stop_reason)).c_str());
  note(line);
}

int run(RunOptions& options) {
  Session session(options.pipeline);
  const std::atomic<bool>& interrupted = catch_interrupt();
  pipeline::Pipeline& pipeline = session.pipeline();
  const pipeline::Prompt prompt = options.prompt.make(pipeline);
  const pipeline::Encoding encoding = value_or_stop(pipeline.encode_prompt(prompt), kModelFile);
  model::Decoder& decoder = *part_or_stop(pipeline.decoder());
  pipeline::SamplerChain sampler = part_or_stop(pipeline.sampler());

  pipeline::GenerationRequest request = pipeline.generation_request(encoding.ids);
  request.cancel = &interrupted;
  if (!options.json) request.on_text = [](std::string_view text) { print(text); };
  const pipeline::Generation generation = value_or_stop(
      generate(decoder, sampler, *part_or_stop(pipeline.tokenizer()), request), kModelFile);
  if (options.json) {
    print_json(report(prompt, encoding, generation, session));
  } else {
    print("\n");
    if (!options.quiet) summary(encoding.ids.size(), generation);
  }
  return generation.stop_reason == pipeline::StopReason::kCancelled ? kInterrupted : kDone;
}

}  // namespace

void add_run(CLI::App& app, int& exit) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb =
      app.add_subcommand("run", "Generate a continuation or an answer, streamed to stdout");
  options->pipeline.add_to(*verb);
  options->prompt.add_to(*verb);
  verb->add_flag("--json", options->json, "Print text, ids and diagnostics as JSON when done");
  verb->add_flag("-q,--quiet", options->quiet, "No summary on stderr");
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
