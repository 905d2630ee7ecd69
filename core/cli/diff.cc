// diff: two pipelines, one verdict over all stages.
#include <memory>
#include <optional>

#include "core/base/os/durable.h"
#include "core/cli/diff_options.h"
#include "core/cli/diff_text.h"
#include "core/cli/impact.h"
#include "core/cli/sides.h"
#include "core/cli/targets.h"
#include "core/cli/verbs.h"
#include "core/diff/conversation_comparison.h"
#include "core/diff/report_json.h"
#include "core/report/html_page.h"
#include "core/report/junit_xml.h"

namespace plumbline::cli {
namespace {

struct DiffVerbOptions {
  PairOptions pair;
  PromptSetOptions prompts;
  std::string mode = "forced";
  std::optional<uint32_t> n_tokens;
  uint64_t seed = 1;
  std::string noise_file;
  std::string conversation_file;
  std::string out;
  std::string html_file;
  std::string junit_file;
  std::string from;
  bool all_rows = false;
  bool strict = false;
  bool json = false;
  bool impact = false;
  ImpactOptions impacts;
};

diff::Verdict worst_allowed(bool is_strict) {
  return is_strict ? diff::Verdict::kMatch : diff::Verdict::kTieFlip;
}

int exit_code(const diff::Report& report, bool is_strict) {
  if (report.is_empty) return kNothingDone;
  return report.verdict <= worst_allowed(is_strict) ? kDone : kDifference;
}

diff::Report compare_conversations(DiffVerbOptions& options) {
  const std::string& file = options.conversation_file;
  auto events = diff::parse_events(parse_json(read_all(file), file));
  if (!events) stop(kUsage, std::move(events).error().at(file));
  diff::ConversationRequest request;
  request.script.events = *std::move(events);
  request.script.n_tokens = options.n_tokens.value_or(64);
  request.script.seed = options.seed;
  request.cancel = &catch_interrupt();
  Pair pair(options.pair);
  return value_or_stop(diff::compare_conversations(pair.a(), pair.b(), request, DelayedProgress()),
                       failure_exit(pair.a(), pair.b()));
}

diff::Report compare(DiffVerbOptions& options) {
  const diff::NoiseTable noise = read_noise(options.noise_file);
  Pair pair(options.pair);
  diff::DiffRequest request = request_for(pair, options.prompts, noise);
  request.mode = options.mode == "chained" ? diff::Mode::kChained : diff::Mode::kForced;
  request.n_steps = options.n_tokens.value_or(request.mode == diff::Mode::kForced ? 4 : 64);
  request.seed = options.seed;
  request.all_rows = options.all_rows;
  diff::Report report = value_or_stop(diff::compare(pair.a(), pair.b(), request, DelayedProgress()),
                                      failure_exit(pair.a(), pair.b()));
  report.notes.insert(report.notes.end(), pair.notes().begin(), pair.notes().end());
  if (pair.draws_by_gumbel()) {
    report.notes.push_back(
        "no config names a draw, so both sides draw by gumbel (samplers.md), not as they would");
  }
  return report;
}

int rank_impact(DiffVerbOptions& options) {
  const std::vector<diff::PromptInput> prompts = read_prompts(options.prompts);
  Pair pair(options.pair);
  options.impacts.json = options.json;
  return run_impact(pair.a(), pair.b(), prompts, options.impacts);
}

int run_diff(DiffVerbOptions& options) {
  if (options.impact) return rank_impact(options);
  check_targets({options.out, options.html_file, options.junit_file},
                {options.from, options.pair.a, options.pair.b, options.prompts.file,
                 options.prompts.messages_file, options.noise_file, options.conversation_file});
  const diff::Report report =
      !options.conversation_file.empty() ? compare_conversations(options)
      : options.from.empty()
          ? compare(options)
          : value_or_stop(diff::report_from_json(parse_json(read_all(options.from), options.from)),
                          kModelFile);
  const pipeline::OrderedJson json = diff::to_json(report);
  const auto write = [](const std::string& file, const std::string& text) {
    value_or_stop(os::write_file(file, text), kModelFile);
  };
  if (!options.out.empty()) {
    using Json = pipeline::OrderedJson;
    write(options.out, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  if (!options.html_file.empty()) write(options.html_file, plumbline::report::html_page(report));
  if (!options.junit_file.empty()) {
    write(options.junit_file, plumbline::report::junit_xml(report, worst_allowed(options.strict)));
  }
  if (options.json) {
    print_json(json);
  } else {
    print(diff_summary(report));
  }
  return exit_code(report, options.strict);
}

}  // namespace

void add_diff(CLI::App& app, int& exit) {
  auto options = std::make_shared<DiffVerbOptions>();
  CLI::App* verb =
      app.add_subcommand("diff", "Compare two pipelines, stage by stage: what differs first");
  options->pair.add_to(*verb);
  options->prompts.add_to(*verb);
  CLI::Option* const conversation = verb->add_option(
      "--conversation", options->conversation_file,
      "A JSON file with what a user does, turn by turn, instead of prompts: [{\"system\": TEXT}, "
      "{\"ask\": TEXT, \"cancel_after\": N}, {\"edit\": INDEX, \"text\": TEXT}, {\"retry\": true}, "
      "{\"undo\": true}]; or messages, whose answers are left out");
  verb->add_option("--mode", options->mode,
                   "forced: B gets A's input at every stage; chained: each runs on its own outputs")
      ->check(CLI::IsMember({"forced", "chained"}))
      ->capture_default_str();
  verb->add_option("--tokens", options->n_tokens, "Generated tokens that are compared")
      ->check(CLI::Range(0u, 100000u))
      ->default_str("4 forced, 64 chained");
  verb->add_option("--seed", options->seed, "Of both sides' coins")->capture_default_str();
  verb->add_flag("--all-rows", options->all_rows,
                 "Compare logits at every position of the prompt, not at its last alone");
  verb->add_option("--noise", options->noise_file,
                   "Noise levels by pair class; without it those that are shipped");
  CLI::Option* const from =
      verb->add_option("--from", options->from, "Show a report that was written before");
  verb->add_flag("--strict", options->strict, "Exit with 1 for DRIFT and TIE_FLIP too");
  CLI::Option* const impact = verb->add_flag(
      "--impact", options->impact,
      "Rank the tensors of B by what each costs alone in A: which deserve more bits");
  verb->add_flag("--by-op", options->impacts.by_op, "With --impact: every op by itself")
      ->needs(impact);
  verb->add_option("--lines", options->impacts.n_lines, "With --impact: lines of the table")
      ->needs(impact)
      ->capture_default_str();
  verb->add_flag("--json", options->json, "The whole report as JSON on stdout");
  verb->add_option("-o,--out", options->out, "Write the report as JSON here as well");
  verb->add_option("--html", options->html_file,
                   "Write it as one HTML page, with plots and without need of a network");
  verb->add_option("--junit", options->junit_file,
                   "Write it as JUnit XML: a test case for each prompt and door");
  // A conversation is compared by its turns.
  for (const char* option : {"--prompt", "--ids", "--messages", "--prompts", "--mode", "--all-rows",
                             "--noise", "--from", "--impact"})
    conversation->excludes(verb->get_option(option));
  // They are of reports, and a rank is none.
  for (const char* option : {"--mode", "--tokens", "--seed", "--all-rows", "--noise", "--from",
                             "--strict", "--out", "--html", "--junit"})
    impact->excludes(verb->get_option(option));
  // Nothing is compared again, so nothing can be asked of it.
  for (const char* option : {"A", "B", "--swap", "--set", "--prompt", "--ids", "--messages",
                             "--prompts", "--mode", "--tokens", "--seed", "--all-rows", "--noise"})
    from->excludes(verb->get_option(option));
  verb->footer(
      "Examples:\n"
      "  plumb diff smollm2 --swap kernels=reference\n"
      "  plumb diff smollm2 --swap activations=f32 -p \"The capital of France is\" -o report.json\n"
      "  plumb diff a.yaml b.yaml --prompts prompts.jsonl --json\n"
      "  plumb diff smollm2-reference-f32 smollm2 --impact\n"
      "  plumb diff smollm2 --swap context.history_ids=retokenise --conversation turns.json\n"
      "  plumb diff --from report.json --html report.html --junit report.xml\n"
      "Verdicts: MATCH, DRIFT and TIE_FLIP (exit 0), UNEXPLAINED and WRONG (1); 3 if nothing was "
      "compared.");
  verb->callback([options, &exit] { exit = run_diff(*options); });
}

}  // namespace plumbline::cli
