// pipeline_config.h: a pipeline config as plain data: what the rest of the project knows of YAML.
//
// Meanings, limits and defaults of every key are in spec.cc, the one table that also makes the JSON
// Schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plumbline::config {

/// "auto" for a number is an empty optional; for a plugin it is this name.
inline constexpr const char* kAuto = "auto";

enum class Mode { kLab, kShip };
enum class Activations { kQ8, kF32 };
enum class KvFormat { kF32, kF16 };
enum class Special { kParse, kOff };
enum class IllFormed { kAsTokenizer, kMaximalSubpart, kSeed004 };
enum class ContextPolicy { kTurnAware, kFull, kRing, kSinkRing };
enum class HistoryIds { kStored, kRetokenise };
enum class WhenBusy { kReject, kQueue };

/// The first tokens that sink_ring keeps where the config leaves it open: the four of Xiao et al.
/// 2023 (StreamingLLM).
inline constexpr uint32_t kDefaultSinks = 4;

struct ModelSource {
  std::string package;  // a name in a model source's catalogue; empty: path is given
  std::string path;  // a file, already joined with the folder of the config that names it
  std::string sha256;  // expected of the file at path; empty: not pinned
};

struct ModelConfig {
  std::string loader;
  ModelSource source;
};

/// The layers first..last, both included.
struct LayerRange {
  uint32_t first = 0;
  uint32_t last = 0xffffffff;

  bool is_all() const { return first == 0 && last == 0xffffffff; }
  bool contains(uint32_t layer) const { return first <= layer && layer <= last; }
};

/// "These layers' op runs on that backend."
struct KernelOverride {
  std::string op;
  LayerRange layers;
  std::string backend;
  std::string options_json;  // an object, handed to that backend as it is
};

struct KernelsConfig {
  std::string backend;
  std::string variant;
  Activations activations = Activations::kQ8;
  KvFormat kv = KvFormat::kF32;
  std::optional<uint32_t> threads;
  std::vector<KernelOverride> overrides;
  std::string options_json;  // an object, handed to the backend as it is
};

/// A foreign engine in the decoder's place: core/doc/runner.md.
struct RunnerConfig {
  std::string name;  // an installed one, or a program's path, joined like ModelSource::path
  std::string python;  // what runs a .py file
  std::string map;  // kAuto, or a file, joined like ModelSource::path
  uint32_t timeout_s = 0;  // of each step
  std::string options_json;  // an object, handed to the runner as it is

  bool is_wanted() const { return name != "none"; }
};

struct TokenizerConfig {
  std::string plugin;
  std::string path;  // a file with the tokenizer, joined like ModelSource::path; empty: the model's
  std::string sha256;  // expected of it; empty: not pinned
  Special special = Special::kParse;
  IllFormed ill_formed = IllFormed::kAsTokenizer;
  std::vector<std::string> control_literals;  // barred from strangers' text beside the special ones
  std::string options_json;
};

struct TemplateConfig {
  std::string plugin;
  std::string path;  // a file with the template, joined like ModelSource::path; empty: the model's
  std::string sha256;  // expected of it; empty: not pinned
  std::string name;  // of the file's templates, for files that have several
  std::string undefined;  // "strict", "semi_strict" or "hf": the profile's name in plumb.template/1
  std::optional<bool> thinking;  // empty: the template's own choice
  bool trusts_assistant = true;
  bool has_directive = false;  // the diagnostic one: core/pipeline/directive.h
};

struct StageConfig {
  std::string stage;
  std::string plugin;  // kAuto: whichever offers the stage
  std::string params_json;  // an object
};

struct SamplingConfig {
  std::string profile;  // the preset that the stages come from; empty: written out in the config
  std::vector<StageConfig>
      stages;  // in order, presets, `draw` and `tune` already expanded; never empty
  std::vector<std::string> breakers;  // what no repeat reaches over, for the stage dry
  uint64_t seed = 0;
};

struct ContextConfig {
  std::optional<uint32_t> length;  // empty: the model's own
  ContextPolicy policy = ContextPolicy::kTurnAware;
  uint32_t n_sinks = 0;  // of kSinkRing; else none
  std::optional<uint32_t> evict_to;  // tokens that dropping comes down to; empty: spec.cc
  uint32_t reserve_output = 0;
  HistoryIds history_ids = HistoryIds::kStored;
  WhenBusy when_busy = WhenBusy::kReject;
  std::optional<uint32_t> kv_budget_mib;  // empty: any
  std::optional<uint32_t> prefill_chunk;  // tokens in one call; empty: all at once
};

struct GenerationConfig {
  uint32_t max_tokens = 0;
  std::vector<std::string> stop;
  std::vector<int32_t> stop_ids;
  std::vector<std::vector<int32_t>> stop_tails;  // none is empty
  bool ignore_end = false;
};

struct ParserConfig {
  std::string plugin;  // kAuto, or "none"
  std::string options_json;
};

struct PluginsConfig {
  std::vector<std::string> paths;  // files or folders, joined like ModelSource::path
};

struct PipelineConfig {
  Mode mode = Mode::kLab;
  ModelConfig model;
  KernelsConfig kernels;
  RunnerConfig runner;
  TokenizerConfig tokenizer;
  TemplateConfig chat_template;
  SamplingConfig sampling;
  ContextConfig context;
  GenerationConfig generation;
  ParserConfig parser;
  PluginsConfig plugins;
};

}  // namespace plumbline::config
