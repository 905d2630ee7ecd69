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
  config.sampling.seed = *as_integer(read.at("sampling.seed"));

  config.context.length = read.auto_integer("context.length");
  config.context.policy =
      read.text("context.policy") == "full" ? ContextPolicy::kFull : ContextPolicy::kTurnAware;
  config.context.reserve_output = read.integer("context.reserve_output");
  config.context.prefill_chunk = read.auto_integer("context.prefill_chunk");
  config.generation = {read.integer("generation.max_tokens"), read.texts("generation.stop")};
  config.plugins.paths = read.texts("plugins.paths");
  return config;
}

}  // namespace plumbline::config
