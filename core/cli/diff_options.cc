#include "core/cli/diff_options.h"

#include <filesystem>
#include <sstream>

#include "core/cli/prompt_options.h"
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
bool leaves_draw_open(const config::ResolvedConfig& resolved) {
  const config::Value* const stages = resolved.tree.at("sampling.stages");
  return stages != nullptr && !stages->items.empty() &&
         stages->items.back().origin.text() == "default";
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

Pair::One Pair::open(const std::string& name, const std::string& config,
                     const std::vector<std::string>& overrides, const Session* other,
                     const std::string& sha256) {
  One one;
  one.session = std::make_unique<Session>(PipelineOptions{config, overrides});
  if (leaves_draw_open(one.session->config())) {
    std::vector<std::string> with_draw = overrides;
    with_draw.push_back("sampling.draw=gumbel");
    one.session = std::make_unique<Session>(PipelineOptions{config, with_draw});
  }
  pipeline::Pipeline& pipeline = one.session->pipeline();
  const bool is_same_file = other != nullptr && other->opened() != nullptr &&
                            other->opened()->file().path() == pipeline.file().path();
  one.side = part_or_stop(
      diff::make_side({name, is_same_file ? sha256 : ""}, one.session->config(), pipeline));
  return one;
}

Pair::Pair(const PairOptions& options) {
  if (options.a.empty())
    stop(kUsage, {PLUMB_INVALID_ARGUMENT, "which two? give A, and B or --swap"});
  if (options.b.empty() && options.swaps.empty()) {
    stop(kUsage, {PLUMB_INVALID_ARGUMENT,
                  "nothing to compare " + options.a + " with: give a second config or --swap"});
  }
  a_ = open(options.a, options.a, options.overrides, nullptr, "");
  std::string name = options.b.empty() ? options.a : options.b;
  std::vector<std::string> overrides = options.overrides;
  if (!options.swaps.empty()) {
    Session plain(PipelineOptions{name, overrides});
    for (const std::string& one :
         value_or_stop(diff::swap_overrides(options.swaps, plain.config().config), kUsage))
      overrides.push_back(one);
  }
  const std::string config = name;
  for (const std::string& swap : options.swaps) name += " " + swap;
  b_ = open(name, config, overrides, a_.session.get(), a_.side->identity().model_sha256);
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

// ---- Noise, progress

diff::NoiseTable read_noise(const std::string& file) {
  const std::string path = file.empty() ? shipped_configs() + "/diff/noise.json" : file;
  const std::string name = std::filesystem::path(path).filename().string();
  return value_or_stop(diff::NoiseTable::parse(read_all(path), name), kModelFile);
}

void DelayedProgress::operator()(const std::string& what) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::seconds(1);
  note(what);
}

}  // namespace plumbline::cli
