// protocol: six stages that a port of a model goes through, in one table with one exit code.
#include "core/protocol/protocol.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "core/base/os/durable.h"
#include "core/cli/diff_options.h"
#include "core/cli/findings.h"
#include "core/cli/session.h"
#include "core/cli/sides.h"
#include "core/cli/verbs.h"
#include "core/golden/bundle_folder.h"
#include "core/golden/identity.h"
#include "plumb/sdk/abi.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;
using pipeline::OrderedJson;
using protocol::Stage;

struct ProtocolVerb {
  PipelineOptions pipeline;
  std::string reference;
  std::string golden;
  std::string stages = "1-6";
  std::vector<std::string> corpora;
  std::string prompts;
  std::string noise;
  std::string junit;
  uint32_t n_tokens = 512;
  bool strict = false;
  bool json = false;
};

// "1,3-5"
std::set<int> parse_stages(const std::string& text) {
  std::set<int> stages;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&]() {
    int value = 0;
    const auto [next, code] = std::from_chars(at, end, value);
    if (code != std::errc() || value < 1 || value > protocol::kStages) {
      stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                    "--stages: found \"" + text + "\", expected stages from 1 to 6, as in 1,3-5"});
    }
    at = next;
    return value;
  };
  while (true) {
    const int first = number();
    int last = first;
    if (at < end && *at == '-') {
      ++at;
      last = std::max(number(), first);
    }
    for (int stage = first; stage <= last; ++stage) stages.insert(stage);
    if (at == end) return stages;
    if (*at++ != ',') at = end;  // and then a number is missing
  }
}

/// A file of the golden data that is installed for a model of the catalogue; empty: there is none.
std::string shipped_golden(const std::string& folder, const std::string& name) {
  const std::string path = shipped_configs() + "/../golden/" + folder + "/" + name;
  std::error_code ignored;
  return fs::exists(path, ignored) ? fs::path(path).lexically_normal().string() : "";
}

struct Golden {
  std::string folder;
  std::optional<golden::Bundle> bundle;
};

/// The bundle that was asked for, or the installed one if it is of this very model.
Golden find_golden(const ProtocolVerb& verb, Session& session) {
  Golden found{verb.golden, {}};
  const std::string& package = session.config().config.model.source.package;
  if (found.folder.empty() && !package.empty() &&
      !shipped_golden("models/" + package, "bundle.json").empty())
    found.folder = shipped_golden("models", package);
  if (found.folder.empty()) return found;
  found.bundle = value_or_stop(golden::read_bundle(found.folder), kModelFile);
  const golden::Identity seen =
      value_or_stop(golden::model_identity(session.pipeline()), kModelFile);
  auto same = golden::check_identity(found.bundle->identity, seen);
  if (!same && !verb.golden.empty()) stop(kModelFile, std::move(same).error().at(found.folder));
  if (!same) {
    note("note: the installed golden data is left out: " + same.error().message);
    found.bundle.reset();
  }
  return found;
}

/// The file with the folder that tells it from others of its name, as far as the path has one.
std::string short_name(const fs::path& path) {
  return (path.parent_path().filename() / path.filename()).string();
}

std::vector<protocol::Corpus> read_corpora(const ProtocolVerb& verb, Session& session) {
  std::vector<std::string> paths = verb.corpora;
  const std::string& package = session.config().config.model.source.package;
  if (paths.empty() && !package.empty()) {
    for (const char* folder : {"tokenizers", "tokenizer_fuzz"}) {
      const std::string path = shipped_golden(folder, package + ".jsonl");
      if (!path.empty()) paths.push_back(path);
    }
  }
  if (paths.empty()) paths.push_back(shipped_configs() + "/protocol/corpus.jsonl");
  std::vector<protocol::Corpus> corpora;
  for (const std::string& path : paths) {
    corpora.push_back(
        value_or_stop(protocol::parse_corpus(read_all(path), short_name(path)), kModelFile));
  }
  return corpora;
}

std::vector<protocol::Prompt> read_prompts(const ProtocolVerb& verb) {
  const std::string path =
      verb.prompts.empty() ? shipped_configs() + "/protocol/prompts.jsonl" : verb.prompts;
  std::vector<protocol::Prompt> prompts;
  for (NamedText& one : read_named_texts(path))
    prompts.push_back({std::move(one.name), std::move(one.text)});
  if (prompts.empty())
    stop(kNothingDone, {PLUMB_INVALID_ARGUMENT, path + ": there is no prompt in it"});
  return prompts;
}

// ---- what came of it

std::string verdict_of(const Stage& stage) {
  if (!stage.failure.empty()) return "FAILED";
  const golden::Summary all = stage.summary();
  return all.n_compared == 0 ? "NOT RUN" : diff::verdict_name(all.verdict);
}

/// One exit code: a failed stage fails the whole; a stage that did not run is no pass.
int stages_exit(const std::vector<Stage>& stages, bool is_strict) {
  golden::Summary all;
  bool has_failed = false;
  for (const Stage& stage : stages) {
    has_failed |= !stage.failure.empty();
    const golden::Summary one = stage.summary();
    all.n_compared += one.n_compared;
    all.verdict = std::max(all.verdict, one.verdict);
  }
  return has_failed ? kDifference : exit_of(all, is_strict);
}

std::string table(const std::vector<Stage>& stages) {
  std::string text;
  for (const Stage& stage : stages) {
    text += std::to_string(stage.number) + "  " + padded(stage.title, 26) +
            padded(verdict_of(stage), 13);
    if (!stage.failure.empty()) {
      text += printable(stage.failure);
    } else if (!stage.why_not.empty()) {
      text += printable(stage.why_not);
    } else {
      text += printable(stage.b) + "  against  " + printable(stage.a);
    }
    text += "\n";
    for (const golden::Finding& finding : stage.findings)
      text += "     " + padded(verdict_text(finding), 13) + printable(finding.what) + ": " +
              printable(finding.statement) + "\n";
  }
  return text;
}

OrderedJson stage_json(const Stage& stage) {
  const golden::Summary all = stage.summary();
  OrderedJson json{{"number", stage.number},
                   {"title", stage.title},
                   {"verdict", verdict_of(stage)},
                   {"reference", stage.a},
                   {"subject", stage.b},
                   {"n_compared", all.n_compared},
                   {"n_not_compared", all.n_not_compared}};
  json["not_run"] = stage.why_not.empty() ? OrderedJson() : OrderedJson(stage.why_not);
  json["failure"] = stage.failure.empty() ? OrderedJson() : OrderedJson(stage.failure);
  json["findings"] = to_json(stage.findings);
  return json;
}

/// What can be reproduced bit for bit is apart from what cannot.
OrderedJson payload(const ProtocolVerb& verb, const std::vector<Stage>& stages,
                    const std::string& noise, const Failure* failure, int exit) {
  OrderedJson list = OrderedJson::array(), seconds = OrderedJson::array();
  for (const Stage& stage : stages) {
    list.push_back(stage_json(stage));
    seconds.push_back(stage.seconds);
  }
  OrderedJson json{{"protocol", 1},
                   {"config", verb.pipeline.config},
                   {"reference", verb.reference},
                   {"tokens", verb.n_tokens},
                   {"noise", noise},
                   {"stages", std::move(list)}};
  json["failure"] = failure == nullptr ? OrderedJson()
                                       : OrderedJson{{"code", status_name(failure->error.code)},
                                                     {"message", failure->error.message}};
  json["exit"] = exit;
  json["volatile"] = {{"stage_seconds", std::move(seconds)}};
  return json;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    const std::string_view entity = c == '&'   ? "&amp;"
                                    : c == '<' ? "&lt;"
                                    : c == '>' ? "&gt;"
                                    : c == '"' ? "&quot;"
                                               : "";
    entity.empty() ? safe += c : safe += entity;
  }
  return safe;
}

/// failure: what ended the run; null: it came to its end.
std::string junit(const std::vector<Stage>& stages, const Failure* failure, bool is_strict) {
  size_t n_failed = 0, n_skipped = 0;
  std::string cases;
  for (const Stage& stage : stages) {
    cases += "  <testcase classname=\"protocol\" name=\"" + std::to_string(stage.number) + " " +
             escaped(stage.title) + "\" time=\"" + std::to_string(stage.seconds) + "\">\n";
    std::string lines;
    for (const golden::Finding& finding : stage.findings)
      lines += verdict_text(finding) + " " + finding.what + ": " + finding.statement + "; ";
    const int exit = stages_exit({stage}, is_strict);
    if (exit == kNothingDone) {
      ++n_skipped;
      cases += "    <skipped message=\"" + escaped(stage.why_not) + "\"/>\n";
    } else if (exit != kDone) {
      ++n_failed;
      cases += "    <failure type=\"" + verdict_of(stage) + "\" message=\"" +
               escaped(stage.failure + lines) + "\"/>\n";
    }
    cases += "  </testcase>\n";
  }
  if (failure != nullptr) {
    cases += "  <testcase classname=\"protocol\" name=\"run\">\n    <error message=\"" +
             escaped(failure->error.message) + "\"/>\n  </testcase>\n";
  }
  const size_t n_errors = failure != nullptr ? 1 : 0;
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"plumb protocol\" tests=\"" +
         std::to_string(stages.size() + n_errors) + "\" errors=\"" + std::to_string(n_errors) +
         "\" failures=\"" + std::to_string(n_failed) + "\" skipped=\"" + std::to_string(n_skipped) +
         "\">\n" + cases + "</testsuite>\n";
}

void compare(const ProtocolVerb& verb, std::string& noise_source, std::vector<Stage>& stages) {
  protocol::Request request{.stages = parse_stages(verb.stages), .n_tokens = verb.n_tokens};
  const diff::NoiseTable noise = read_noise(verb.noise);
  noise_source = noise.source();
  Session session(verb.pipeline);
  request.prompts = read_prompts(verb);
  request.corpora = read_corpora(verb, session);
  request.noise = &noise;
  request.cancel = &catch_interrupt();
  request.on_progress = [](const std::string& what) { note(printable(what)); };
  const Golden golden = find_golden(verb, session);
  request.bundle = golden.bundle ? &*golden.bundle : nullptr;
  request.bundle_folder = golden.folder;
  protocol::SideMaker sides({.file = find_config(verb.pipeline.config),
                             .overrides = verb.pipeline.overrides,
                             .preset_folders = {shipped_configs() + "/presets"}},
                            session.host(), session.pipeline().file().path());
  Session other({.config = verb.reference, .overrides = verb.pipeline.overrides});
  std::unique_ptr<diff::Side> reference;
  if (!verb.reference.empty()) reference = side_of(other, verb.reference);
  sides.set_reference(reference.get());
  value_or_stop(protocol::run(request, sides, stages), kPlugin);
}

int protocol_verb(const ProtocolVerb& verb) {
  std::vector<Stage> stages;
  std::string noise;
  std::optional<Failure> failure;
  try {
    compare(verb, noise, stages);
  } catch (const Failure& caught) {
    failure = caught;
  }
  const int exit = failure ? failure->exit : stages_exit(stages, verb.strict);
  const Failure* const ended_by = failure ? &*failure : nullptr;
  if (!verb.junit.empty())
    value_or_stop(os::write_file(verb.junit, junit(stages, ended_by, verb.strict)), kModelFile);
  if (verb.json)
    print_json(payload(verb, stages, noise, ended_by, exit));
  else
    print(table(stages));
  if (failure) throw *failure;
  return exit;
}

}  // namespace

void add_protocol(CLI::App& app, int& exit) {
  auto verb = std::make_shared<ProtocolVerb>();
  CLI::App* sub = app.add_subcommand(
      "protocol", "Six stages from token ids to three turns, each against a reference");
  verb->pipeline.add_to(*sub);
  sub->add_option("--reference", verb->reference,
                  "A config with a runner: stages 2 and 5 compare with that engine");
  sub->add_option("--golden", verb->golden,
                  "Golden data of the model, for stages 1 and 2 (default: the installed ones)");
  sub->add_option("--stages", verb->stages, "Which, as in 1,3-5")->capture_default_str();
  sub->add_option("--tokens", verb->n_tokens, "Length of the seeded run, stage 5")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  sub->add_option("--corpus", verb->corpora,
                  "Texts for stage 1, a JSON object a line, perhaps with ids; may be repeated")
      ->allow_extra_args(false);
  sub->add_option("--prompts", verb->prompts, "Prompts for stages 2 to 5, a JSON object a line");
  sub->add_option("--noise", verb->noise, "Noise levels, a file (default: the shipped one)");
  sub->add_option("--junit", verb->junit, "Write a JUnit XML file too");
  sub->add_flag("--strict", verb->strict, "Only equal numbers will do");
  sub->add_flag("--json", verb->json, "One JSON object, on failure too");
  sub->footer(
      "1 token ids, 2 first-step logits in f32, 3 native against WebAssembly, 4 weight formats,\n"
      "5 a seeded long run, 6 three turns of a conversation. Cosine and mean absolute error are\n"
      "told; noise levels decide.\n"
      "Exit codes: 0 all that ran passed; 1 a difference, or a stage that failed; 3 no stage ran.\n"
      "Examples:\n"
      "  plumb protocol smollm2\n"
      "  plumb protocol smollm2 --reference smollm2-transformers --json\n"
      "  plumb protocol my.yaml --stages 1-3 --golden my.golden --junit protocol.xml");
  sub->callback([verb, &exit] { exit = protocol_verb(*verb); });
}

}  // namespace plumbline::cli
