// golden record, golden verify: answers of an engine, kept for later, and whether they are still
// given.
#include <filesystem>
#include <memory>

#include "core/cli/diff_options.h"
#include "core/cli/findings.h"
#include "core/cli/session.h"
#include "core/cli/sides.h"
#include "core/cli/targets.h"
#include "core/cli/verbs.h"
#include "core/golden/bundle_folder.h"
#include "core/golden/identity.h"
#include "core/golden/record.h"
#include "core/golden/requantise.h"
#include "core/golden/verify.h"
#include "core/model/quantize.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

// ---- record

struct RecordVerb {
  PipelineOptions pipeline;
  std::string prompt;
  std::string prompts_file;
  std::string out;
  uint32_t n_tokens = 100;
  uint32_t n_top = 20;
  bool json = false;
};

std::vector<golden::RecordRequest::Prompt> read_prompts(const RecordVerb& verb) {
  if (verb.prompts_file.empty())
    return {{"prompt", verb.prompt.empty() ? read_all("-") : verb.prompt}};
  std::vector<golden::RecordRequest::Prompt> prompts;
  for (NamedText& one : read_named_texts(verb.prompts_file))
    prompts.push_back({std::move(one.name), std::move(one.text)});
  return prompts;
}

int record(RecordVerb& verb) {
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(verb.out, ignored))) {
    stop(kUsage,
         {PLUMB_INVALID_ARGUMENT,
          verb.out + ": is there already; golden data is never changed: choose another name"});
  }
  check_new_folder(verb.out);
  Session session(verb.pipeline);
  golden::RecordRequest request{.prompts = read_prompts(verb),
                                .n_greedy = verb.n_tokens,
                                .n_top = verb.n_top,
                                .cancel = &catch_interrupt()};
  if (request.prompts.empty())
    stop(kNothingDone, {PLUMB_INVALID_ARGUMENT, verb.prompts_file + ": there is no prompt in it"});
  const std::unique_ptr<diff::Side> side = side_of(session, verb.pipeline.config);
  request.made_by = {side->identity().is_runner ? side->identity().backend : golden::kOwnEngine,
                     side->identity().is_runner ? side->identity().variant : PLUMB_VERSION};
  request.made_by.config = verb.pipeline.config;
  if (side->identity().is_runner)
    request.ids_made_by = std::string(golden::kOwnEngine) + " " PLUMB_VERSION;
  request.on_progress = [](const std::string& name) { note("recording " + printable(name)); };
  golden::Recorded made =
      value_or_stop(golden::record(*side, session.host(), request), failure_exit(*side, *side));
  value_or_stop(golden::write_bundle(verb.out, made.bundle, made.rows), kModelFile);
  if (made.bundle.made_by.is_own()) {
    note(
        "note: made by the code under test: it will prove that nothing changed since, not that it "
        "was right");
  }
  if (verb.json) {
    print_json({{"folder", verb.out},
                {"engine", made.bundle.made_by.engine},
                {"version", made.bundle.made_by.version},
                {"weights_sha256", made.bundle.identity.weights_sha256},
                {"prompts", made.bundle.prompts.size()},
                {"tokens", verb.n_tokens}});
  } else {
    print(verb.out + ": " + std::to_string(made.bundle.prompts.size()) +
          (made.bundle.prompts.size() == 1 ? " prompt, by " : " prompts, by ") +
          made.bundle.made_by.engine + " " + made.bundle.made_by.version + "\n");
  }
  return kDone;
}

// ---- verify

struct VerifyVerb {
  std::string folder;
  PipelineOptions pipeline{.config = "", .overrides = {}};
  uint32_t n_tokens = UINT32_MAX;
  bool skip_requantised = false;
  bool strict = false;
  bool json = false;
};

/// What a person must know before believing the verdict.
std::vector<std::string> notes(const golden::Bundle& bundle, const golden::Identity& seen) {
  std::vector<std::string> all = golden::plugin_changes(bundle.identity, seen);
  for (std::string& line : golden::config_changes(bundle.identity, seen))
    all.push_back("config: " + std::move(line));
  if (bundle.made_by.is_own())
    all.push_back(
        "recorded by plumb itself: this proves sameness over time, not that it was right");
  return all;
}

std::vector<golden::Finding> verify_requantised(const golden::Bundle& bundle,
                                                const golden::Requantised& made,
                                                const VerifyVerb& verb, Session& session,
                                                const golden::VerifyRequest& request) {
  note("quantizing to " + printable(made.to));
  const plumb_format format = value_or_stop(model::quantisable_format(made.to), kModelFile);
  const auto file = value_or_stop(
      golden::RequantisedFile::make(session.pipeline(), session.host(), format, request.cancel),
      kModelFile);
  const auto pipeline = value_or_stop(
      pipeline::Pipeline::open(session.config().config, session.host(), file.path()), kModelFile);
  const auto side = side_of(session, *pipeline, made.to);
  return value_or_stop(golden::verify_requantised(bundle, made, verb.folder, *side, request),
                       failure_exit(*side, *side));
}

/// The config that a bundle was recorded with: a shipped one, by its name. A stranger's bundle
/// names no file, and so no library, that this program would load.
std::string config_of(const golden::Bundle& bundle, const std::string& folder) {
  const std::string& name = bundle.made_by.config;
  const std::string shipped = shipped_configs() + "/pipelines/" + name + ".yaml";
  std::error_code ignored;
  if (!name.empty() && name.find('/') == std::string::npos &&
      std::filesystem::exists(shipped, ignored))
    return shipped;
  stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                folder + ": recorded with " + (name.empty() ? "no config" : "\"" + name + "\"") +
                    ", which is no shipped one: name the CONFIG to verify"});
}

int verify(VerifyVerb& verb) {
  const golden::Bundle bundle = value_or_stop(golden::read_bundle(verb.folder), kModelFile);
  if (verb.pipeline.config.empty()) verb.pipeline.config = config_of(bundle, verb.folder);
  Session session(verb.pipeline);
  const diff::NoiseTable noise = read_noise("");
  const golden::VerifyRequest request{
      .noise = &noise, .cancel = &catch_interrupt(), .n_greedy_max = verb.n_tokens};
  const std::unique_ptr<diff::Side> side = side_of(session, verb.pipeline.config);
  const golden::Identity seen =
      value_or_stop(golden::identity_of(*side, session.host()), kModelFile);
  value_or_stop(golden::check_identity(bundle.identity, seen), kModelFile);
  std::vector<golden::Finding> findings = value_or_stop(
      golden::verify_prompts(bundle, verb.folder, *side, request), failure_exit(*side, *side));
  for (const golden::Requantised& made : bundle.requantised) {
    if (verb.skip_requantised) break;
    std::ranges::move(verify_requantised(bundle, made, verb, session, request),
                      std::back_inserter(findings));
  }
  const golden::Summary all = golden::summary(findings);
  const int exit = exit_of(all, verb.strict);
  if (verb.json) {
    print_json(
        {{"folder", verb.folder},
         {"made_by", {{"engine", bundle.made_by.engine}, {"version", bundle.made_by.version}}},
         {"is_independent", !bundle.made_by.is_own()},
         {"notes", notes(bundle, seen)},
         {"noise", noise.source()},
         {"findings", to_json(findings)},
         {"verdict", all.n_compared == 0 ? "NOT RUN" : diff::verdict_name(all.verdict)},
         {"exit", exit}});
    return exit;
  }
  for (const std::string& line : notes(bundle, seen)) note("note: " + printable(line));
  print(findings_table(findings));
  print(
      std::string(all.n_compared == 0 ? "nothing was compared" : diff::verdict_name(all.verdict)) +
      ": " + printable(verb.folder) + ", made by " + printable(bundle.made_by.engine) + " " +
      printable(bundle.made_by.version) + "\n");
  return exit;
}

}  // namespace

void add_golden(CLI::App& app, int& exit) {
  CLI::App* golden =
      app.add_subcommand("golden", "Keep an engine's answers, and check against them");
  golden->require_subcommand(1);

  auto recorded = std::make_shared<RecordVerb>();
  CLI::App* record_verb =
      golden->add_subcommand("record", "Write a folder with ids, logits and greedy tokens");
  recorded->pipeline.add_to(*record_verb);
  auto* prompt = record_verb->add_option("-p,--prompt", recorded->prompt,
                                         "Raw text (no template); without it and --prompts: stdin");
  record_verb
      ->add_option("--prompts", recorded->prompts_file,
                   "A file with a prompt a line, as JSON: {\"text\": ..., \"name\": ...}")
      ->excludes(prompt);
  record_verb->add_option("--tokens", recorded->n_tokens, "Greedy tokens behind each prompt")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  record_verb->add_option("--top", recorded->n_top, "How many of the largest logits to list")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  record_verb->add_option("-o,--out", recorded->out, "The folder to make")->required();
  record_verb->add_flag("--json", recorded->json, "As JSON");
  record_verb->footer(
      "Examples:\n"
      "  plumb golden record smollm2 -p \"The capital of France is\" -o capital.golden\n"
      "  plumb golden record gemma3 --prompts prompts.jsonl --tokens 32 -o gemma3.golden");
  record_verb->callback([recorded, &exit] { exit = record(*recorded); });

  auto verified = std::make_shared<VerifyVerb>();
  CLI::App* verify_verb = golden->add_subcommand(
      "verify", "Run the model again and compare; another model is refused by its hashes");
  verify_verb->add_option("FOLDER", verified->folder, "What golden record made")->required();
  verified->pipeline.add_to(*verify_verb);
  verify_verb->add_option("--tokens", verified->n_tokens,
                          "Look at so many of the greedy tokens (default: all)");
  verify_verb->add_flag("--skip-requantised", verified->skip_requantised,
                        "Leave out the formats that would have to be made first");
  verify_verb->add_flag("--strict", verified->strict, "Only equal numbers will do");
  verify_verb->add_flag("--json", verified->json, "As JSON");
  verify_verb->footer(
      "Without CONFIG: the one that the folder was recorded with, if it is a shipped one.\n"
      "Exit codes: 0 the same, or within the noise of the two arithmetics; 1 different; 3 nothing "
      "was compared;\n4 another model, or a broken folder.\n"
      "Examples:\n"
      "  plumb golden verify capital.golden\n"
      "  plumb golden verify golden/models/smollm2-135m smollm2 --set kernels.activations=f32");
  verify_verb->callback([verified, &exit] { exit = verify(*verified); });
}

}  // namespace plumbline::cli
