// logits: the model alone.
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/npy.h"
#include "core/base/os/durable.h"
#include "core/base/top_ids.h"
#include "core/cli/prompt_options.h"
#include "core/cli/session.h"
#include "core/cli/verbs.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct LogitsOptions {
  PipelineOptions pipeline;
  std::string prompt;
  std::string ids;
  std::string out;
  bool all = false;
  bool json = false;
  uint32_t top = 20;
};

OrderedJson top_logits(std::span<const float> logits, uint32_t n,
                       const pipeline::Tokenizer* tokenizer) {
  OrderedJson rows = OrderedJson::array();
  for (const int32_t id : top_ids(logits, n)) {
    OrderedJson row{{"id", id}, {"logit", logits[static_cast<size_t>(id)]}};
    if (tokenizer != nullptr) {
      if (const auto piece = tokenizer->piece(id, false)) row["piece"] = std::string(*piece);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// f32[n_rows,V]: of all ids, or of the last one.
struct LogitRows {
  std::vector<float> values;
  uint64_t n_vocab = 0;
};

LogitRows runner_logits(runner::Runner& engine, std::span<const int32_t> ids, bool all) {
  auto output = value_or_stop(engine.forward(ids, {.all_rows = all}), kPlugin);
  return {std::move(output.logits), engine.info().n_vocab};
}

LogitRows decoder_logits(model::Decoder& decoder, std::span<const int32_t> ids, bool all) {
  LogitRows rows{.values = {}, .n_vocab = decoder.hyper_parameters().n_vocab};
  if (all) {
    rows.values.reserve(ids.size() * rows.n_vocab);
    value_or_stop(decoder.forward_all(ids,
                                      [&](uint32_t, std::span<const float> row) {
                                        rows.values.insert(rows.values.end(), row.begin(),
                                                           row.end());
                                      }),
                  kModelFile);
  } else {
    const auto row = value_or_stop(decoder.forward(ids), kModelFile);
    rows.values.assign(row.begin(), row.end());
  }
  return rows;
}

int logits(LogitsOptions& options) {
  Session session(options.pipeline);
  pipeline::Pipeline& pipeline = session.pipeline();
  std::vector<int32_t> ids;
  if (!options.ids.empty()) {
    ids = parse_ids(options.ids);
  } else {
    const std::string prompt = options.prompt.empty() ? read_all("-") : options.prompt;
    ids = value_or_stop(pipeline.encode_prompt({.bytes = prompt}), kModelFile).ids;
  }
  const auto [values, n_vocab] =
      session.config().config.runner.is_wanted()
          ? runner_logits(session.runner(), ids, options.all)
          : decoder_logits(*part_or_stop(pipeline.decoder()), ids, options.all);
  if (options.json) {
    const auto tokenizer = pipeline.tokenizer();
    const std::span<const float> last = std::span<const float>(values).last(n_vocab);
    print_json(
        {{"ids", ids}, {"top", top_logits(last, options.top, tokenizer ? *tokenizer : nullptr)}});
    return kDone;
  }
  const std::vector<uint64_t> shape =
      options.all ? std::vector<uint64_t>{ids.size(), n_vocab} : std::vector<uint64_t>{n_vocab};
  const std::string file = npy_bytes(shape, values);
  if (options.out.empty()) {
    print(file);
  } else {
    value_or_stop(os::write_file(options.out, file), kModelFile);
  }
  return kDone;
}

}  // namespace

void add_logits(CLI::App& app, int& exit) {
  auto options = std::make_shared<LogitsOptions>();
  CLI::App* verb =
      app.add_subcommand("logits", "Logits after a prompt, as a NumPy file or the top of the list");
  options->pipeline.add_to(*verb);
  auto* prompt =
      verb->add_option("-p,--prompt", options->prompt, "Raw text (no template); without it: stdin");
  verb->add_option("--ids", options->ids, "Token ids instead of text: 1,2,3")->excludes(prompt);
  verb->add_flag("--all", options->all, "f32[T,V] of every position instead of f32[V] of the last");
  verb->add_option("-o,--out", options->out, "Write the .npy here instead of to stdout");
  verb->add_flag("--json", options->json, "The largest logits of the last position as JSON");
  verb->add_option("--top", options->top, "How many of them")->capture_default_str();
  verb->footer(
      "Examples:\n"
      "  plumb logits -p \"The capital of France is\" --json\n"
      "  plumb logits gemma3 --ids 2,818,5279 --all -o rows.npy\n"
      "  plumb logits smollm2-transformers -p \"The capital of France is\" --json");
  verb->callback([options, &exit] { exit = logits(*options); });
}

}  // namespace plumbline::cli
