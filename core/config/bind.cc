#include "core/config/bind.h"

#include <cassert>
#include <nlohmann/json.hpp>

#include "core/config/scalars.h"

namespace plumbline::config {
namespace {

/// Reads a tree that check.h has found complete and right, so that nothing here can fail.
class Reader {
 public:
  explicit Reader(const Value& tree) : tree_(tree) {}

  const Value& at(std::string_view path) const {
    const Value* value = tree_.at(path);
    assert(value != nullptr);
    return *value;
  }

  std::string text(std::string_view path) const { return at(path).text; }
  std::string text_or_empty(std::string_view path) const {
    const Value* value = tree_.at(path);
    return value == nullptr ? std::string() : value->text;
  }
  uint32_t integer(std::string_view path) const {
    return static_cast<uint32_t>(*as_integer(at(path)));
  }
  std::optional<uint32_t> auto_integer(std::string_view path) const {
    if (at(path).text == kAuto) return std::nullopt;
    return integer(path);
  }
  std::vector<std::string> texts(std::string_view path) const {
    std::vector<std::string> out;
    for (const Value& item : at(path).items) out.push_back(item.text);
    return out;
  }
  std::string json(std::string_view path) const { return as_json(at(path))->dump(); }

 private:
  const Value& tree_;
};

KernelOverride bind_override(const Value& value) {
  const Reader read(value);
  return {read.text("op"), *as_layers(read.text("layers")), read.text("backend"),
          read.json("options")};
}

IllFormed bind_ill_formed(const std::string& text) {
  if (text == "maximal_subpart") return IllFormed::kMaximalSubpart;
  return text == "seed004" ? IllFormed::kSeed004 : IllFormed::kAsTokenizer;
}

std::optional<bool> bind_switch(const std::string& text) {
  if (text == kAuto) return std::nullopt;
  return text == "on";
}

ContextPolicy bind_policy(const std::string& text) {
  if (text == "full") return ContextPolicy::kFull;
  if (text == "ring") return ContextPolicy::kRing;
  return text == "sink_ring" ? ContextPolicy::kSinkRing : ContextPolicy::kTurnAware;
}

std::vector<int32_t> bind_ids(const Value& list) {
  std::vector<int32_t> ids;
  for (const Value& item : list.items) ids.push_back(static_cast<int32_t>(*as_integer(item)));
  return ids;
}

StageConfig bind_stage(const Value& value) {
  StageConfig stage{.stage = value.text, .plugin = kAuto, .params_json = "{}"};
  for (const Entry& entry : value.entries) {
    if (entry.key == "plugin") {
      stage.plugin = entry.value.text;
    } else {
      stage.stage = entry.key;
      stage.params_json = as_json(entry.value)->dump();
    }
  }
  return stage;
}

}  // namespace

PipelineConfig bind(const Value& tree) {
  const Reader read(tree);
  PipelineConfig config;
  config.mode = read.text("mode") == "ship" ? Mode::kShip : Mode::kLab;
  config.model.loader = read.text("model.loader");
  config.model.source = {read.text_or_empty("model.source.package"),
                         read.text_or_empty("model.source.path"),
                         read.text_or_empty("model.source.sha256")};

  KernelsConfig& kernels = config.kernels;
  kernels.backend = read.text("kernels.backend");
  kernels.variant = read.text("kernels.variant");
  kernels.activations =
      read.text("kernels.activations") == "f32" ? Activations::kF32 : Activations::kQ8;
  kernels.kv = read.text("kernels.kv") == "f16" ? KvFormat::kF16 : KvFormat::kF32;
  kernels.threads = read.auto_integer("kernels.threads");
  for (const Value& item : read.at("kernels.overrides").items)
    kernels.overrides.push_back(bind_override(item));
  kernels.options_json = read.json("kernels.options");

  config.runner = {
      .name = read.text("runner.name"),
      .python = read.text("runner.python"),
      .map = read.text("runner.map"),
      .timeout_s = read.integer("runner.timeout_s"),
      .options_json = read.json("runner.options"),
  };

  config.tokenizer.plugin = read.text("tokenizer.plugin");
  config.tokenizer.path = read.text_or_empty("tokenizer.path");
  config.tokenizer.sha256 = read.text_or_empty("tokenizer.sha256");
  config.tokenizer.special =
      read.text("tokenizer.special") == "off" ? Special::kOff : Special::kParse;
  config.tokenizer.ill_formed = bind_ill_formed(read.text("tokenizer.ill_formed"));
  config.tokenizer.control_literals = read.texts("tokenizer.control_literals");
  config.tokenizer.options_json = read.json("tokenizer.options");
  config.chat_template = {
      .plugin = read.text("template.plugin"),
      .path = read.text_or_empty("template.path"),
      .sha256 = read.text_or_empty("template.sha256"),
      .name = read.text("template.name"),
      .undefined = read.text("template.undefined"),
      .thinking = bind_switch(read.text("template.thinking")),
      .trusts_assistant = read.text("template.assistant") == "trusted",
      .has_directive = read.text("template.directive") == "diagnostic",
  };

  config.sampling.profile = read.text_or_empty("sampling.profile");
  for (const Value& item : read.at("sampling.stages").items)
    config.sampling.stages.push_back(bind_stage(item));
  config.sampling.breakers = read.texts("sampling.breakers");
  config.sampling.seed = *as_integer(read.at("sampling.seed"));

  ContextConfig& context = config.context;
  context.length = read.auto_integer("context.length");
  context.policy = bind_policy(read.text("context.policy"));
  if (context.policy == ContextPolicy::kSinkRing)
    context.n_sinks = read.auto_integer("context.sinks").value_or(kDefaultSinks);
  context.evict_to = read.auto_integer("context.evict_to");
  context.reserve_output = read.integer("context.reserve_output");
  context.history_ids = read.text("context.history_ids") == "retokenise" ? HistoryIds::kRetokenise
                                                                         : HistoryIds::kStored;
  context.when_busy =
      read.text("context.when_busy") == "queue" ? WhenBusy::kQueue : WhenBusy::kReject;
  context.kv_budget_mib = read.auto_integer("context.kv_budget_mib");
  context.prefill_chunk = read.auto_integer("context.prefill_chunk");

  GenerationConfig& generation = config.generation;
  generation.max_tokens = read.integer("generation.max_tokens");
  generation.stop = read.texts("generation.stop");
  generation.stop_ids = bind_ids(read.at("generation.stop_ids"));
  for (const Value& tail : read.at("generation.stop_tails").items)
    generation.stop_tails.push_back(bind_ids(tail));
  generation.ignore_end = *as_switch(read.at("generation.ignore_end"));
  config.parser = {read.text("parser.plugin"), read.json("parser.options")};
  config.plugins.paths = read.texts("plugins.paths");
  return config;
}

}  // namespace plumbline::config
