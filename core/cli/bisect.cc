// bisect, reduce, reproduce: which choices make a difference, and the smallest case that shows it.
#include <chrono>
#include <filesystem>
#include <memory>

#include "core/cli/diff_options.h"
#include "core/cli/sides.h"
#include "core/cli/targets.h"
#include "core/cli/verbs.h"
#include "core/diff/bisect.h"
#include "core/diff/reduce.h"
#include "core/hash/sha256.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

/// What bisect and reduce share.
struct SearchOptions {
  PairOptions pair;
  PromptSetOptions prompts;
  uint32_t n_tokens = 4;
  uint64_t seed = 1;
  std::string noise_file;
  uint32_t n_runs_max = 1000;
  uint32_t n_prompt_runs_max = 100;
  double time_limit_s = 0;
  bool json = false;

  void add_to(CLI::App& verb) {
    pair.add_to(verb);
    prompts.add_to(verb);
    verb.add_option("--tokens", n_tokens, "Generated tokens that are compared")
        ->check(CLI::Range(0u, 100000u))
        ->capture_default_str();
    verb.add_option("--seed", seed, "Of both sides' coins")->capture_default_str();
    verb.add_option("--noise", noise_file,
                    "Noise levels by pair class; without it those that are shipped");
    verb.add_option("--runs", n_runs_max, "At most so many mixtures are run")
        ->capture_default_str();
    verb.add_option("--prompt-runs", n_prompt_runs_max,
                    "At most so many runs to find the shortest prompt; 0: it stays")
        ->capture_default_str();
    verb.add_option("--time-limit", time_limit_s,
                    "Seconds after which the best so far is the answer; 0: none")
        ->capture_default_str();
    verb.add_flag("--json", json, "The answer and every run as JSON");
  }
};

/// The hash of the model file, where one of the sides has it already: it takes longer than a
/// prompt.
std::string known_sha256(Pair& pair, pipeline::Pipeline& pipeline) {
  for (diff::Side* const side : {&pair.a(), &pair.b()}) {
    if (side->pipeline().file().path() == pipeline.file().path())
      return side->identity().model_sha256;
  }
  return "";
}

class OpenedSession : public diff::OpenedSide {
 public:
  OpenedSession(const config::ResolvedConfig& config, Pair& pair)
      : session_(config),
        side_(side_of(session_, "a mixture", known_sha256(pair, session_.pipeline()))) {}
  diff::Side& side() override { return *side_; }

 private:
  Session session_;
  std::unique_ptr<diff::Side> side_;
};

Result<std::unique_ptr<diff::OpenedSide>> open_config(const config::ResolvedConfig& config,
                                                      Pair& pair) {
  try {
    return std::unique_ptr<diff::OpenedSide>(std::make_unique<OpenedSession>(config, pair));
  } catch (const Failure& failure) {
    return failure.error;
  }
}

std::string shown(const diff::Choice& choice) {
  const auto value = [](const std::string& text) { return text.empty() ? "nothing" : text; };
  return choice.path + ": " + value(choice.a) + " -> " + value(choice.b);
}

std::string shown(const diff::PromptInput& prompt) {
  return diff::to_json(prompt).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void note_run(const diff::BisectRun& run, uint32_t n_choices) {
  std::string line;
  for (uint32_t item = 0, at = 0; item < n_choices; ++item) {
    const bool is_in = at < run.of_b.size() && run.of_b[at] == item;
    line += is_in ? 'B' : '.';
    at += is_in ? 1 : 0;
  }
  note(line + "  " + diff::outcome_name(run.outcome) + ": " + printable(run.seen));
}

/// A search with what it stands on.
struct Search {
  explicit Search(const SearchOptions& options)
      : noise_json(read_all(options.noise_file.empty() ? shipped_configs() + "/diff/noise.json"
                                                       : options.noise_file)),
        noise(read_noise(options.noise_file)),
        pair(options.pair) {
    request.diff = request_for(pair, options.prompts, noise);
    request.diff.n_steps = options.n_tokens;
    request.diff.seed = options.seed;
    request.open = [this](const config::ResolvedConfig& config) {
      return open_config(config, pair);
    };
    request.n_runs_max = options.n_runs_max;
    request.n_prompt_runs_max = options.n_prompt_runs_max;
    request.on_run = note_run;
    const auto start = std::chrono::steady_clock::now();
    request.stop = [this, start, limit_s = options.time_limit_s] {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      return request.diff.cancel->load() || (limit_s > 0 && spent.count() > limit_s);
    };
  }

  diff::BisectReport run() {
    return value_or_stop(diff::bisect(pair.a(), pair.b(), request),
                         failure_exit(pair.a(), pair.b()));
  }

  std::string noise_json;
  diff::NoiseTable noise;
  Pair pair;
  diff::BisectRequest request;
};

/// Why there was nothing to search for.
std::string no_search(const diff::BisectReport& report) {
  if (report.symptom.verdict == diff::Verdict::kMatch)
    return "A and B do not differ in outcome: MATCH\n";
  std::string text =
      printable(report.symptom.text()) + ", but no prompt shows it, so none can be searched\n";
  for (const std::string& one : report.notes) text += "  " + printable(one) + "\n";
  return text;
}

void print_summary(const diff::BisectReport& report) {
  print(printable(report.symptom.text()) + ", by " + std::to_string(report.culprits.items.size()) +
        " of " + std::to_string(report.choices.size()) + " choices, found in " +
        std::to_string(report.runs.size()) + " runs:\n");
  for (const uint32_t item : report.culprits.items)
    print("  " + printable(shown(report.choices[item])) + "\n");
  if (report.culprits.fell_back)
    print("the choices depend on each other: delta debugging finished what bisection could not\n");
  if (!report.culprits.is_minimal) print("the search was cut short: fewer of these may do\n");
  print("shortest prompt, in " + std::to_string(report.n_prompt_runs) +
        " runs: " + printable(shown(report.prompt)) + ", " + std::to_string(report.n_steps) +
        " generated tokens\n");
  if (report.shown && report.shown->place) {
    print("A: " + printable(report.shown->place->seen_a) +
          "\nB: " + printable(report.shown->place->seen_b) + "\n");
  }
}

int exit_code(const diff::BisectReport& report) {
  if (report.symptom.verdict == diff::Verdict::kMatch) return kNothingDone;
  if (!report.has_case()) return kDifference;
  return catch_interrupt() ? kInterrupted : kDone;
}

int run_bisect(const SearchOptions& options) {
  Search search(options);
  const diff::BisectReport report = search.run();
  if (options.json) {
    print_json(diff::to_json(report));
  } else if (!report.has_case()) {
    print(no_search(report));
  } else {
    print_summary(report);
  }
  return exit_code(report);
}

int run_reduce(const SearchOptions& options, const std::string& folder) {
  check_new_folder(folder);
  Search search(options);
  const diff::BisectReport report = search.run();
  if (!report.has_case()) {
    note(no_search(report) + "so there is nothing to write");
    return exit_code(report);
  }
  value_or_stop(diff::write_case(report, search.pair.a(),
                                 {.folder = folder,
                                  .seed = options.seed,
                                  .noise_json = search.noise_json,
                                  .made_by = "plumb " PLUMB_VERSION}),
                kModelFile);
  if (options.json) {
    print_json(diff::to_json(report));
  } else {
    print_summary(report);
    print("written: " + folder + "; " + folder + "/reproduce shows it again\n");
  }
  return exit_code(report);
}

int run_reproduce(const std::string& folder, bool as_json) {
  const auto file = [&](const char* name) { return folder + "/" + name; };
  const diff::Expected expected = value_or_stop(
      diff::parse_expected(read_all(file(diff::kExpected)), file(diff::kExpected)), kModelFile);
  PromptSetOptions prompts;
  prompts.file = file(diff::kPrompt);
  const bool has_noise = !expected.noise_sha256.empty();
  if (has_noise) {
    const std::string seen = sha256_of(read_all(file(diff::kNoise)));
    if (seen != expected.noise_sha256) {
      stop(kModelFile,
           {PLUMB_CORRUPT, file(diff::kNoise) + ": its sha256 is " + seen +
                               ", but the case was made with " + expected.noise_sha256});
    }
  }
  const diff::NoiseTable noise = read_noise(has_noise ? file(diff::kNoise) : "");
  PairOptions configs;
  configs.a = file(diff::kConfigA);
  configs.b = file(diff::kConfigB);
  Pair pair(configs);
  diff::DiffRequest request = request_for(pair, prompts, noise);
  if (request.prompts.size() != 1) {
    stop(kModelFile, {PLUMB_CORRUPT, prompts.file + ": expected one prompt, found " +
                                         std::to_string(request.prompts.size())});
  }
  request.n_steps = expected.n_steps;
  request.seed = expected.seed;
  const diff::Report report =
      value_or_stop(diff::compare(pair.a(), pair.b(), request, DelayedProgress()),
                    failure_exit(pair.a(), pair.b()));
  const diff::PromptReport& seen = report.prompts.front();
  const diff::Symptom symptom = diff::symptom_of(seen);
  const bool reproduces = symptom == expected.symptom;
  const bool same_values = seen.place && seen.place->op == expected.op &&
                           seen.place->at == expected.at && seen.place->seen_a == expected.seen_a &&
                           seen.place->seen_b == expected.seen_b;
  if (as_json) {
    print_json({{"reproduces", reproduces},
                {"same_values", same_values},
                {"expected", expected.symptom.text()},
                {"seen", symptom.text()}});
  } else {
    print(printable(reproduces
                        ? "reproduces: " + symptom.text()
                        : "differs: " + symptom.text() + ", expected " + expected.symptom.text()) +
          (same_values ? ", with the same values\n" : ", with other values\n"));
  }
  return reproduces ? kDone : kDifference;
}

}  // namespace

void add_bisect(CLI::App& app, int& exit) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App* verb = app.add_subcommand(
      "bisect", "Which of the choices in which two configs differ make the difference");
  options->add_to(*verb);
  verb->footer(
      "Examples:\n"
      "  plumb bisect smollm2 --swap draw=cdf --swap profile=precise -p Hello --tokens 2\n"
      "  plumb bisect good.yaml bad.yaml -p \"The capital of France is\"\n"
      "  plumb bisect smollm2 --swap activations=f32 --swap kernels.rope@3-5=reference --json\n"
      "Every line on stderr is a run: the choices taken from B, and what came out. Exit 0 when "
      "the\n"
      "culprits are found, 3 when A and B do not differ in outcome, 1 when they do and no prompt "
      "shows it. Ctrl-C ends with the best so far.");
  verb->callback([options, &exit] { exit = run_bisect(*options); });
}

void add_reduce(CLI::App& app, int& exit) {
  auto options = std::make_shared<SearchOptions>();
  auto folder = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand(
      "reduce", "The smallest case that shows a difference, as a folder with one command");
  options->add_to(*verb);
  verb->add_option("-o,--out", *folder, "A new folder")->required();
  verb->footer(
      "Examples:\n"
      "  plumb reduce smollm2 --swap draw=cdf --swap profile=precise -p Hello --tokens 2 -o case\n"
      "  plumb reduce good.yaml bad.yaml -p \"The capital of France is\" -o other && "
      "other/reproduce\n"
      "It bisects, shortens the prompt and writes both configs, the prompt and what must come "
      "out.");
  verb->callback([options, folder, &exit] { exit = run_reduce(*options, *folder); });
}

void add_reproduce(CLI::App& app, int& exit) {
  auto folder = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("reproduce", "Does a case that reduce wrote still differ?");
  verb->add_option("FOLDER", *folder, "What reduce wrote")->required();
  verb->add_flag("--json", *json, "The answer as JSON");
  verb->footer(
      "Example:\n"
      "  plumb reproduce case\n"
      "Exit 0 if it does, with the same verdict at the same place; 1 if it does not.");
  verb->callback([folder, json, &exit] { exit = run_reproduce(*folder, *json); });
}

}  // namespace plumbline::cli
