#include "core/cli/diff_options.h"

#include <filesystem>
#include <sstream>

#include "core/cli/prompt_options.h"
#include "core/cli/sides.h"
#include "core/diff/swap.h"
#include "core/hash/sha256.h"

namespace plumbline::cli {
namespace {

using pipeline::OrderedJson;

// Languages, scripts, code, digits: short, so that a diff without prompts takes seconds.
constexpr const char* kTexts[] = {
    "The capital of France is",
    "def fibonacci(n):\n    \"\"\"Return the n-th number.\"\"\"\n",
    "Le chat dort sur le canapé, et la pluie tombe.",
    "3.14159 + 2.71828 = ",
    "今日は天気がいいので、散歩に行きます。",
    "{\"name\": \"Ada\", \"born\": 1815, \"languages\": [",
    "Der schnelle braune Fuchs springt über den faulen Hund",
    "Привет, мир! 🙂 Once upon a time, in a land far away,",
};

// A stage that stands there because nobody chose a draw.
bool leaves_draw_open(const PipelineOptions& options) {
  Session session(options);
  const config::Value* const stages = session.config().tree.at("sampling.stages");
  return stages != nullptr && !stages->items.empty() &&
         stages->items.back().origin.text() == "default";
}

// Before weights are loaded, which takes long. A runner has its own vocabulary.
void check_sampler(Session& session) {
  const config::PipelineConfig& config = session.config().config;
  if (config.runner.is_wanted()) return;
  const uint32_t n_vocab = part_or_stop(session.pipeline().file().hyper_parameters()).n_vocab;
  part_or_stop(pipeline::make_sampler(config.sampling, session.host(), n_vocab));
}

diff::PromptInput prompt_of(const OrderedJson& line, const std::string& where) {
  diff::PromptInput input;
  const auto is = [&](const char* key) { return line.is_object() && line.contains(key); };
  if (line.is_string()) {
    input.text = line.get<std::string>();
  } else if (is("text") && line["text"].is_string()) {
    input.text = line["text"].get<std::string>();
  } else if (is("prompt") && line["prompt"].is_string()) {
    input.text = line["prompt"].get<std::string>();
  } else if (is("messages")) {
    input.messages = line;
  } else if (is("ids") && line["ids"].is_array()) {
    for (const OrderedJson& id : line["ids"]) {
      if (!id.is_number_integer() || id < 0 || id > INT32_MAX)
        stop(kUsage, {PLUMB_INVALID_ARGUMENT, where + ": ids: expected whole numbers from 0 on"});
      input.ids.push_back(id.get<int32_t>());
    }
    if (input.ids.empty()) stop(kUsage, {PLUMB_INVALID_ARGUMENT, where + ": ids: there are none"});
  } else {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                  where + ": expected a text, or an object with text, messages or ids"});
  }
  return input;
}

void read_prompt_file(const std::string& path, std::vector<diff::PromptInput>& prompts) {
  const bool is_jsonl = path.ends_with(".jsonl");
  std::istringstream lines(read_all(path));
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const std::string where = path + ":" + std::to_string(number);
    prompts.push_back(is_jsonl ? prompt_of(parse_json(line, where), where)
                               : diff::PromptInput{.text = line});
  }
}

// For templates that differ; none where a side has no template.
void add_conversations(Pair& pair, std::vector<diff::PromptInput>& prompts) {
  for (diff::Side* const side : {&pair.a(), &pair.b()}) {
    if (side->identity().chat_template_sha256.empty()) return;
  }
  const auto turn = [](const char* role, const char* content) {
    return OrderedJson{{"role", role}, {"content", content}};
  };
  const OrderedJson question = turn("user", "What is the capital of France?");
  prompts.push_back({.messages = OrderedJson::array({question})});
  prompts.push_back(
      {.messages = OrderedJson::array({question, turn("assistant", " Paris. "),
                                       turn("user", "Und die von <b>Japan</b>?\n")})});
}

}  // namespace

// ---- Two sides

void PairOptions::add_to(CLI::App& verb) {
  verb.add_option("A", a, "Pipeline config: a file, or the name of a shipped one");
  verb.add_option("B", b, "The other config; without it: A with --swap");
  verb.add_option("--swap", swaps,
                  "Exchange a part of B: kernels=ID[:VARIANT], kernels.OP[@3-5]=ID, activations=, "
                  "kv=, threads=, chunk=, tokenizer=, template=, loader=, model=PATH, profile=, "
                  "draw=, or any key of the config; may be repeated")
      ->allow_extra_args(false);
  verb.add_option("--set", overrides, "Override one value of both configs; may be repeated")
      ->allow_extra_args(false);
}

Pair::Pair(const PairOptions& options) {
  if (options.a.empty())
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, "which two? give A, and B or --swap"});
  if (options.b.empty() && options.swaps.empty()) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                  "nothing to compare " + options.a + " with: give a second config or --swap"});
  }
  PipelineOptions of_a{options.a, options.overrides};
  std::string name = options.b.empty() ? options.a : options.b;
  PipelineOptions of_b{name, options.overrides};
  Session plain(of_b);
  if (!options.swaps.empty()) {
    for (const std::string& one :
         value_or_stop(diff::swap_overrides(options.swaps, plain.config().config), kUsage))
      of_b.overrides.push_back(one);
  }
  for (const std::string& swap : options.swaps) name += " " + swap;
  // A config that names its draw is compared as it stands, and so is the other.
  draws_by_gumbel_ = leaves_draw_open(of_a) && leaves_draw_open(of_b);
  if (draws_by_gumbel_) {
    for (PipelineOptions* const config : {&of_a, &of_b})
      config->overrides.emplace_back("sampling.draw=gumbel");
  }
  a_.session = std::make_unique<Session>(of_a);
  b_.session = std::make_unique<Session>(of_b);
  check_sampler(*a_.session);
  check_sampler(*b_.session);
  const auto file_of = [](const One& one) { return one.session->pipeline().file().path(); };
  a_.side = side_of(*a_.session, options.a);
  const bool is_same_file = file_of(a_) == file_of(b_);
  b_.side = side_of(*b_.session, name, is_same_file ? a_.side->identity().model_sha256 : "");
  if (options.swaps.empty()) return;
  for (const std::string& swap :
       diff::idle_swaps(options.swaps, plain.config(), b_.session->config())) {
    notes_.push_back("`--swap " + swap + "` changes nothing: " + (options.b.empty() ? "A" : "B") +
                     " has " + swap.substr(swap.find('=') + 1) + " already");
  }
}

// ---- Prompts

void PromptSetOptions::add_to(CLI::App& verb) {
  verb.add_option("-p,--prompt", texts, "A raw text; may be repeated")->allow_extra_args(false);
  verb.add_option("--ids", ids, "Token ids instead of text: 1,2,3");
  verb.add_option("--messages", messages_file,
                  "A JSON file with messages: [{\"role\", "
                  "\"content\"}]");
  verb.add_option("--prompts", file,
                  "A .jsonl file, each line with text, messages or ids; else one text a line");
}

std::vector<diff::PromptInput> read_prompts(const PromptSetOptions& options) {
  std::vector<diff::PromptInput> prompts;
  for (const std::string& text : options.texts) prompts.push_back({.text = text});
  if (!options.ids.empty()) prompts.push_back({.ids = parse_ids(options.ids)});
  if (!options.messages_file.empty()) {
    prompts.push_back(
        {.messages = parse_json(read_all(options.messages_file), options.messages_file)});
  }
  if (!options.file.empty()) {
    read_prompt_file(options.file, prompts);
    if (prompts.empty()) {
      stop(kNothingDone, {PLUMB_INVALID_ARGUMENT, options.file + ": there are no prompts in it, so "
                                                                 "nothing was compared"});
    }
  }
  if (prompts.empty()) {
    for (const char* text : kTexts) prompts.push_back({.text = text});
  }
  return prompts;
}

// ---- Noise, request, progress

diff::NoiseTable read_noise(const std::string& file) {
  const std::string path = file.empty() ? shipped_configs() + "/diff/noise.json" : file;
  const std::string name = std::filesystem::path(path).filename().string();
  return value_or_stop(diff::NoiseTable::parse(read_all(path), name), kModelFile);
}

diff::DiffRequest request_for(Pair& pair, const PromptSetOptions& prompts,
                              const diff::NoiseTable& noise) {
  diff::DiffRequest request;
  request.prompts = read_prompts(prompts);
  if (prompts.are_default() && diff::templates_differ(pair.a(), pair.b()))
    add_conversations(pair, request.prompts);
  request.noise = &noise;
  request.cancel = &catch_interrupt();
  return request;
}

void DelayedProgress::operator()(const std::string& what) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::seconds(1);
  note(what);
}

}  // namespace plumbline::cli
