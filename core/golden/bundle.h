// bundle.h: golden data of one model: what an engine made of some prompts, and what exactly that
// engine, its model and its settings were. core/doc/golden_bundles.md explains every key;
// configs/schema/golden_bundle.schema.json is for other programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::golden {

/// The engine of bundles that Plumbline made itself: they prove that nothing changed since, not
/// that it was right.
inline constexpr const char* kOwnEngine = "plumbline";

struct MadeBy {
  std::string engine;  // "transformers"
  std::string version;
  std::map<std::string, std::string> with = {};  // other programs -> their versions
  std::string config = {};  // the name of the pipeline config that fits; may be empty

  bool is_own() const { return engine == kOwnEngine; }
};

struct PluginIdentity {
  std::string kind;  // "kernels"
  std::string id, version, sha256;  // of the library
};

/// What must be the same for two runs to be comparable, and what may differ.
struct Identity {
  std::string weights_name;  // of the file, for readers
  uint64_t weights_bytes = 0;
  std::string weights_sha256;  // of the file
  std::string tokenizer_sha256;  // of its data: identity.h
  std::string template_sha256;  // of its text; empty: there is none
  std::string numerics, activations, kv;  // in the words of diff::NumericsClass
  std::vector<PluginIdentity> plugins;  // may differ: they are what is tested
  std::string config;  // resolved, as JSON; empty: the engine has none of ours
};

struct TopLogit {
  int32_t id = 0;
  float logit = 0;
};

/// Ids by argmax, and how sure each was.
struct Greedy {
  std::vector<int32_t> ids;
  std::vector<double> gaps;  // the lead over the runner-up, in logits
  std::vector<double> sigmas;  // standard deviation of the row of logits
};

struct GoldenPrompt {
  std::string name = {};
  std::string text = {};  // bytes; taken as they are, without a template
  std::vector<int32_t> ids = {};
  std::string logits_file = {};  // f32[V] behind the last id, in the bundle's folder
  std::string logits_sha256 = {};  // of that file
  std::vector<TopLogit> top = {};  // the largest of them, falling
  Greedy greedy = {};
};

/// The tensors of one kind ("attn_q.weight") in another format.
struct RequantisedTensors {
  std::string kind = {};
  uint64_t n_tensors = 0;
  std::vector<std::string> from = {};
  std::string to = {};
  std::string sha256 = {};  // of their data, one after the other as in the file
};

struct RequantisedPrompt {
  std::string name;  // of a GoldenPrompt
  std::vector<TopLogit> top;
  double cosine = 0;  // of its logits and those of the GoldenPrompt
  double mean_absolute = 0;  // their mean absolute difference
};

/// The same model with its matrices in another format.
struct Requantised {
  std::string to;  // "Q8_0"
  MadeBy made_by;  // of the blocks; the logits are the bundle's engine's
  std::vector<RequantisedTensors> tensors;
  std::vector<RequantisedPrompt> prompts;
};

struct Bundle {
  MadeBy made_by;
  /// "plumbline 0.1.0", where the engine was given ids and has no tokenizer; empty: the engine.
  std::string ids_made_by = {};
  Identity identity;
  std::vector<GoldenPrompt> prompts;
  std::vector<Requantised> requantised;
};

/// bundle.json's text; where: for messages. Fails CORRUPT: which value is wrong, and how.
Result<Bundle> parse_bundle(std::string_view text, const std::string& where);
std::string bundle_json(const Bundle& bundle);

}  // namespace plumbline::golden
