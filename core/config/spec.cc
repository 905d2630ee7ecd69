#include "core/config/spec.h"

#include <algorithm>

namespace plumbline::config {

using Type = Spec::Type;

const Spec* Spec::child(std::string_view key) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [key](const Spec& spec) { return spec.name == key; });
  return found == children.end() ? nullptr : &*found;
}

std::vector<std::string_view> Spec::child_names() const {
  std::vector<std::string_view> names;
  for (const Spec& spec : children) names.push_back(spec.name);
  return names;
}

const Spec& pipeline_spec() {
  static const Spec spec{
      .name = "pipeline",
      .doc = "A pipeline config of Plumbline: which parts run a model, and how.",
      .children = {
          {.name = "plumbline",
           .type = Type::kInteger,
           .doc = "Version of this config language.",
           .is_required = true,
           .min = 1,
           .max = 1},
          {.name = "extends",
           .type = Type::kText,
           .doc = "Another config that this one builds on, relative to this file. Maps are merged "
                  "by key, lists "
                  "and values replaced."},
          {.name = "mode",
           .type = Type::kChoice,
           .doc = "ship refuses what makes a run depend on anything but this config: model files "
                  "without "
                  "sha256, lenient templates, scripted stages.",
           .fallback = "lab",
           .choices = {"lab", "ship"}},
          {.name = "model",
           .doc = "The model file and what reads it.",
           .children =
               {{.name = "loader",
                 .type = Type::kName,
                 .doc = "Loader plugin; auto: the one that knows the file.",
                 .fallback = "auto"},
                {.name = "source",
                 .doc = "Where the file comes from: package, or path.",
                 .children =
                     {{.name = "package",
                       .type = Type::kName,
                       .doc = "Name in a model source's catalogue, which pins size and sha256."},
                      {.name = "path",
                       .type = Type::kText,
                       .doc = "A model file, relative to the config that names it."},
                      {.name = "sha256",
                       .type = Type::kSha256,
                       .doc = "What the file at path must hash to."}}}}},
          {.name = "kernels",
           .doc = "What computes.",
           .children = {{.name = "backend",
                         .type = Type::kName,
                         .doc = "Kernels plugin; auto: the best that runs on this machine.",
                         .fallback = "auto"},
                        {.name = "activations",
                         .type = Type::kChoice,
                         .doc = "What matrix products multiply quantised weights with: q8 "
                                "quantises activations to 8 bits, "
                                "f32 keeps them.",
                         .fallback = "q8",
                         .choices = {"q8", "f32"}},
                        {.name = "kv",
                         .type = Type::kChoice,
                         .doc = "Element format of the KV cache.",
                         .fallback = "f32",
                         .choices = {"f32"}},
                        {.name = "threads",
                         .type = Type::kAutoInteger,
                         .doc = "Worker threads; auto: one for each core. Never changes a result.",
                         .fallback = "auto",
                         .min = 1,
                         .max = 1024},
                        {.name = "overrides",
                         .type = Type::kList,
                         .doc = "Single ops that run on another backend.",
                         .fallback = "[]",
                         .children = {{.name = "override",
                                       .doc = "One op, some layers, one backend.",
                                       .children = {{.name = "op",
                                                     .type = Type::kName,
                                                     .doc = "The op's name, without its layer.",
                                                     .is_required = true},
                                                    {.name = "layers",
                                                     .type = Type::kLayers,
                                                     .doc = "all, one layer (3), or a range (3-5).",
                                                     .fallback = "all"},
                                                    {.name = "backend",
                                                     .type = Type::kName,
                                                     .doc = "The kernels plugin that runs it.",
                                                     .is_required = true}}}}},
                        {.name = "options",
                         .type = Type::kFree,
                         .doc = "Options of the backend, checked by it.",
                         .fallback = "{}"}}},
          {.name = "tokenizer",
           .doc = "Text to token ids and back.",
           .children = {{.name = "plugin",
                         .type = Type::kName,
                         .doc =
                             "Tokenizer plugin; auto: the one that knows the model's vocabulary.",
                         .fallback = "auto"},
                        {.name = "special",
                         .type = Type::kChoice,
                         .doc = "Literals of control tokens in a raw prompt: parse makes them "
                                "their ids, off leaves them "
                                "text.",
                         .fallback = "parse",
                         .choices = {"parse", "off"}},
                        {.name = "options",
                         .type = Type::kFree,
                         .doc = "Options of the tokenizer, checked by it.",
                         .fallback = "{}"}}},
          {.name = "template",
           .doc = "Messages to a prompt.",
           .children = {{.name = "plugin",
                         .type = Type::kName,
                         .doc = "Chat-template engine.",
                         .fallback = "jinja"},
                        {.name = "undefined",
                         .type = Type::kChoice,
                         .doc = "A variable that the context lacks: strict refuses it everywhere, "
                                "semi_strict lets its "
                                "truth be asked, hf prints nothing as transformers does.",
                         .fallback = "semi_strict",
                         .choices = {"strict", "semi_strict", "hf"}}}},
          {.name = "sampling",
           .doc = "Logits to one token id. Either a profile or stages.",
           .children =
               {{.name = "profile",
                 .type = Type::kName,
                 .doc =
                     "A named list of stages, from the presets; balanced if there are no stages."},
                {.name = "stages",
                 .type = Type::kList,
                 .doc = "Sampler stages in the order that they run; the last draws.",
                 .children = {{.name = "stage",
                               .type = Type::kStage,
                               .doc = "A stage's name, or the name with its parameters; draw "
                                      "stands for sampling.draw."}}},
                {.name = "draw",
                 .type = Type::kName,
                 .doc = "The stage that an entry `draw` stands for: cdf (inverse CDF in id order) "
                        "or gumbel "
                        "(Gumbel-max, steadier under small changes of the logits); "
                        "cdf if it is left out."},
                {.name = "seed",
                 .type = Type::kInteger,
                 .doc = "Key of every coin.",
                 .fallback = "1",
                 .min = 0,
                 .max = UINT64_MAX}}},
          {.name = "context",
           .doc = "The window of tokens that the model sees.",
           .children = {{.name = "length",
                         .type = Type::kAutoInteger,
                         .doc = "Its size in tokens; auto: the model's own.",
                         .fallback = "auto",
                         .min = 1,
                         .max = 1u << 24},
                        {.name = "policy",
                         .type = Type::kChoice,
                         .doc = "A conversation that outgrows it: turn_aware drops the oldest "
                                "whole turns, full refuses.",
                         .fallback = "turn_aware",
                         .choices = {"turn_aware", "full"}},
                        {.name = "reserve_output",
                         .type = Type::kInteger,
                         .doc = "Tokens kept free for the answer.",
                         .fallback = "256",
                         .min = 0,
                         .max = 1u << 24},
                        {.name = "prefill_chunk",
                         .type = Type::kAutoInteger,
                         .doc = "Prompt tokens in one call; auto: all. Never changes a result.",
                         .fallback = "auto",
                         .min = 1,
                         .max = 1u << 24}}},
          {.name = "generation",
           .doc = "When an answer ends.",
           .children = {{.name = "max_tokens",
                         .type = Type::kInteger,
                         .doc = "The most tokens generated.",
                         .fallback = "128",
                         .min = 1,
                         .max = 1u << 24},
                        {.name = "stop",
                         .type = Type::kList,
                         .doc = "Texts that end the answer and are not part of it.",
                         .fallback = "[]",
                         .children =
                             {{.name = "text", .type = Type::kText, .doc = "One such text."}}}}},
          {.name = "plugins",
           .doc = "Where plugins are found.",
           .children = {
               {.name = "paths",
                .type = Type::kList,
                .doc = "Libraries or folders of them, searched first; relative to the config that "
                       "names them.",
                .fallback = "[]",
                .children = {{.name = "path", .type = Type::kText, .doc = "One path."}}}}}}};
  return spec;
}

const std::vector<Exclusion>& exclusions() {
  static const std::vector<Exclusion> all{
      {"model.source.package",
       {"model.source.path", "model.source.sha256"},
       {"model.source.path", "model.source.sha256"}},
      {"model.source.path", {"model.source.package", "model.source.sha256"}, {}},
      {"sampling.profile", {"sampling.stages"}, {"sampling.stages"}},
      {"sampling.stages", {"sampling.profile"}, {}},
  };
  return all;
}

}  // namespace plumbline::config
