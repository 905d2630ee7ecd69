// noise: the level of a pair class, measured on prompts.
#include <algorithm>
#include <memory>

#include "core/cli/diff_options.h"
#include "core/cli/sides.h"
#include "core/cli/verbs.h"
#include "core/protocol/noise_level.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

struct NoiseVerb {
  PairOptions pair;
  std::string prompts;
  std::string half;
  std::string source;
  uint32_t n_op_prompts = 16;
  uint32_t n_tokens = 256;
  double margin = 2;
};

OrderedJson to_json(const diff::NumericsClass& one) {
  return {{"numerics", one.numerics},
          {"activations", one.activations},
          {"kv", one.kv},
          {"weights", one.weights}};
}

int noise(NoiseVerb& verb) {
  protocol::NoiseRequest request{.n_op_prompts = verb.n_op_prompts,
                                 .n_tokens_max = verb.n_tokens,
                                 .cancel = &catch_interrupt()};
  for (NamedText& one : read_named_texts(verb.prompts, verb.half))
    request.prompts.push_back(std::move(one.text));
  if (request.prompts.empty())
    stop(kNothingDone, {PLUMB_INVALID_ARGUMENT, verb.prompts + ": there is no prompt in it"});
  DelayedProgress progress;
  request.on_progress = [&](const std::string& what) { progress(what); };
  Pair pair(verb.pair);
  const protocol::MeasuredNoise measured =
      value_or_stop(protocol::measure_noise(pair.a(), pair.b(), request), kModelFile);
  OrderedJson budgets = OrderedJson::object();
  for (const auto& [kind, largest] : measured.op_errors) budgets[kind] = verb.margin * largest;
  // An entry as configs/diff/noise.json has it, and what it came from.
  print_json({{"a", to_json(pair.a().numerics())},
              {"b", to_json(pair.b().numerics())},
              {"op_budgets", std::move(budgets)},
              {"logit_noise_sigma", verb.margin * measured.quantile(1)},
              {"n_prompts", request.prompts.size()},
              {"models", {pair.a().hyper_parameters().name}},
              {"source", verb.source},
              {"measured",
               {{"rows", measured.gap_changes.size()},
                {"median", measured.quantile(0.5)},
                {"q99", measured.quantile(0.99)},
                {"largest", measured.quantile(1)},
                {"margin", verb.margin}}}});
  return kDone;
}

}  // namespace

void add_noise(CLI::App& app, int& exit) {
  auto verb = std::make_shared<NoiseVerb>();
  CLI::App* sub = app.add_subcommand(
      "noise", "Measure how far two arithmetics lie apart: a level for configs/diff/noise.json");
  verb->pair.add_to(*sub);
  sub->add_option("--prompts", verb->prompts, "A JSON object a line: {\"text\": ...}")->required();
  sub->add_option("--half", verb->half, "Only lines whose \"half\" is this");
  sub->add_option("--source", verb->source, "What the entry says of its origin");
  sub->add_option("--ops", verb->n_op_prompts, "On how many of the prompts ops are compared")
      ->capture_default_str();
  sub->add_option("--tokens", verb->n_tokens, "Most ids of a prompt that are looked at")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  sub->add_option("--margin", verb->margin, "The level is so many times the largest that was seen")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
  sub->footer(
      "The pair must be right on both sides: what is measured here is excused later.\n"
      "Example:\n"
      "  plumb noise smollm2 --swap kernels=reference --prompts golden/texts/prompts.jsonl --half "
      "calibration");
  sub->callback([verb, &exit] { exit = noise(*verb); });
}

}  // namespace plumbline::cli
