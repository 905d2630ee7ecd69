#include "core/config/spec.h"

#include <algorithm>
#include <utility>

namespace plumbline::config {
namespace {

using Type = Spec::Type;
using Choices = std::vector<std::string_view>;

constexpr uint64_t kTokensMax = 1u << 24;
constexpr uint64_t kIdMax = INT32_MAX;

// One word for each type, so that a section below reads as a table: name, default, limits, meaning.

Spec map(std::string_view name, std::string_view doc, std::vector<Spec> children) {
  return {.name = name, .type = Type::kMap, .doc = doc, .children = std::move(children)};
}
Spec list(std::string_view name, std::string_view fallback, Spec item, std::string_view doc) {
  return {.name = name,
          .type = Type::kList,
          .doc = doc,
          .fallback = fallback,
          .children = {std::move(item)}};
}
Spec value(std::string_view name, Type type, std::string_view fallback, std::string_view doc) {
  return {.name = name, .type = type, .doc = doc, .fallback = fallback};
}
Spec choice(std::string_view name, Choices choices, std::string_view doc) {
  return {.name = name,
          .type = Type::kChoice,
          .doc = doc,
          .fallback = choices.front(),
          .choices = choices};
}
Spec number(std::string_view name, Type type, std::string_view fallback, uint64_t min, uint64_t max,
            std::string_view doc) {
  return {.name = name, .type = type, .doc = doc, .fallback = fallback, .min = min, .max = max};
}
Spec required(Spec spec) {
  spec.is_required = true;
  return spec;
}

Spec model() {
  return map(
      "model", "The model file and what reads it.",
      {value("loader", Type::kName, "auto", "Loader plugin; auto: the one that knows the file."),
       map("source", "Where the file comes from: package, or path.",
           {value("package", Type::kName, "",
                  "Name in a model source's catalogue, which pins size and sha256."),
            value("path", Type::kText, "", "A model file, relative to the config that names it."),
            value("sha256", Type::kSha256, "", "What the file at path must hash to.")})});
}

Spec kernels() {
  const Spec item =
      map("override", "One op, some layers, one backend.",
          {required(value("op", Type::kName, "", "The op's name, without its layer.")),
           value("layers", Type::kLayers, "all", "all, one layer (3), or a range (3-5)."),
           required(value("backend", Type::kName, "", "The kernels plugin that runs it.")),
           value("options", Type::kFree, "{}",
                 "Options of that backend, checked by it. Overrides with the same backend and "
                 "options share one instance.")});
  return map(
      "kernels", "What computes.",
      {value("backend", Type::kName, "auto",
             "Kernels plugin; auto: the best that runs on this machine."),
       value("variant", Type::kName, "auto",
             "One of the plugin's variants, as avx512_vnni; auto: the best that runs on this "
             "machine. `plumb plugins inspect` lists them."),
       choice("activations", {"q8", "f32"},
              "What quantised weights are multiplied with: q8 quantises activations to 8 bits, "
              "f32 keeps them."),
       choice(
           "kv", {"f32", "f16"},
           "Element format of the KV cache: f16 halves its memory and reading, and rounds keys and "
           "values."),
       number("threads", Type::kAutoInteger, "auto", 1, 1024,
              "Threads; auto: one for each processor, and never more than those. Never changes a "
              "result."),
       list("overrides", "[]", item, "Single ops that run on another backend."),
       value("options", Type::kFree, "{}", "Options of the backend, checked by it.")});
}

Spec runner() {
  return map(
      "runner", "A foreign engine that gives the logits, as a process beside this one.",
      {value("name", Type::kText, "none",
             "An installed one (transformers, llama_cpp), or a program's path, relative to the "
             "config that names it; none: this project's own decoder."),
       value("python", Type::kText, "python3",
             "What runs a runner in Python: a program's name, or a path relative to the config "
             "that names it."),
       value("map", Type::kText, "auto",
             "A file that says which of its tensors are which of our ops, relative to the config "
             "that names it; auto: the runner's own for the model's architecture."),
       number("timeout_s", Type::kInteger, "600", 1, 86400,
              "Seconds that it may take for each step: to start, to load, to answer."),
       value("options", Type::kFree, "{}", "Options of the runner, checked by it.")});
}

Spec tokenizer() {
  const Spec literal = value("literal", Type::kText, "", "One such text.");
  return map(
      "tokenizer", "Text to token ids and back.",
      {value("plugin", Type::kName, "auto",
             "Tokenizer plugin; auto: the one that knows the model's vocabulary."),
       value(
           "path", Type::kText, "",
           "A file whose tokenizer takes the place of the model's own (tokenizer.json, a "
           "SentencePiece model, a GGUF file, or a folder), relative to the config that names it."),
       value("sha256", Type::kSha256, "", "What the file at path must hash to."),
       choice("special", {"parse", "off"},
              "Literals of control tokens in a raw prompt: parse makes them their ids, off leaves "
              "them text."),
       choice("ill_formed", {"auto", "maximal_subpart", "seed004"},
              "Decoded bytes that are no UTF-8: one U+FFFD for each maximal subpart, or one for "
              "each byte (seed004); auto: as the tokenizer's own decoder does."),
       list("control_literals", "[]", literal,
            "Added tokens that text of users, tools and documents may not become, beside the "
            "special ones and those that stand in the template."),
       value("options", Type::kFree, "{}", "Options of the tokenizer, checked by it.")});
}

Spec chat_template() {
  return map(
      "template", "Messages to a prompt.",
      {value("plugin", Type::kName, "jinja", "Chat-template engine."),
       value("path", Type::kText, "",
             "A file whose template takes the place of the model's own (a .jinja text, "
             "tokenizer_config.json, a GGUF file, or a folder), relative to the config that names "
             "it."),
       value("sha256", Type::kSha256, "", "What the file at path must hash to."),
       value("name", Type::kName, "default",
             "Which of the file's templates, where it has several, as tool_use."),
       choice("undefined", {"strict", "semi_strict", "hf"},
              "A variable that the context lacks: strict refuses it everywhere, semi_strict lets "
              "its truth be asked, hf prints nothing, as transformers does."),
       choice("thinking", {"auto", "on", "off"},
              "The template's variable enable_thinking; auto: the template's own choice."),
       choice("assistant", {"trusted", "untrusted"},
              "Past answers: trusted ones are encoded as the model wrote them, control tokens "
              "included; untrusted ones are text, as a user's."),
       choice("directive", {"off", "diagnostic"},
              "diagnostic: a system message that asks for [CLARIFICATION_REQUIRED] where a prompt "
              "lacks detail.")});
}

Spec sampling() {
  const Spec item =
      value("stage", Type::kStage, "",
            "A stage's name, or the name with its parameters; draw stands for sampling.draw.");
  const Spec text = value("text", Type::kText, "", "One such text.");
  return map(
      "sampling", "Logits to one token id. Either a profile or stages.",
      {value("profile", Type::kName, "",
             "A named list of stages, from the presets; balanced if there are no stages."),
       list("stages", "", item, "Sampler stages in the order that they run; the last draws."),
       value("draw", Type::kName, "",
             "The stage that an entry `draw` stands for: cdf (inverse CDF in id order) or gumbel "
             "(Gumbel-max, steadier under small changes of the logits); cdf if it is left out."),
       value("tune", Type::kFree, "",
             "Parameters that take the place of a profile's, by stage: {temperature: {t: 0.9}}."),
       list("breakers", R"(["\n", ":", "\"", "*"])", text,
            "Texts over which no repeat reaches, for the stage dry: a token with one of them "
            "inside ends it."),
       number("seed", Type::kInteger, "1", 0, UINT64_MAX, "Key of every coin.")});
}

Spec context() {
  return map(
      "context", "The window of tokens that the model sees, and the conversation in it.",
      {number("length", Type::kAutoInteger, "auto", 1, kTokensMax,
              "Its size in tokens; auto: what the model was trained for, at most 4096."),
       choice("policy", {"turn_aware", "full", "ring", "sink_ring"},
              "What outgrows it: turn_aware drops a conversation's oldest whole turns, full drops "
              "nothing and refuses, ring drops a raw text's oldest tokens, and sink_ring all but "
              "its first ones."),
       number("sinks", Type::kAutoInteger, "auto", 1, kTokensMax,
              "The first tokens that sink_ring keeps; auto: 4."),
       number(
           "evict_to", Type::kAutoInteger, "auto", 1, kTokensMax,
           "Tokens that dropping comes down to, so that it leaves room for more than the next "
           "turn; auto: three quarters of the room for a prompt (turn_aware), or half of what lies "
           "behind the sinks (ring, sink_ring)."),
       number("reserve_output", Type::kInteger, "256", 0, kTokensMax,
              "Tokens that a prompt must leave free for the answer; no more than max_tokens are."),
       choice("history_ids", {"stored", "retokenise"},
              "Ids of a conversation's past answers: stored keeps those that the model made, "
              "retokenise encodes their text anew."),
       choice("when_busy", {"reject", "queue"},
              "A request to a conversation that is answering another one."),
       number("kv_budget_mib", Type::kAutoInteger, "auto", 1, kTokensMax,
              "MiB that the KV cache may take: a larger one is refused before the weights are "
              "read; auto: any."),
       number("prefill_chunk", Type::kAutoInteger, "auto", 1, kTokensMax,
              "Prompt tokens in one call; auto: 512. Never changes a result.")});
}

Spec generation() {
  const Spec text = value("text", Type::kText, "", "One such text.");
  const Spec id = number("id", Type::kInteger, "", 0, kIdMax, "One token id.");
  return map(
      "generation", "When an answer ends.",
      {number("max_tokens", Type::kInteger, "128", 1, kTokensMax, "The most tokens generated."),
       list("stop", "[]", text,
            "Texts that end the answer and are not part of it, also where they run across tokens."),
       list("stop_ids", "[]", id, "Token ids that end the answer, beside the model's end tokens."),
       list("stop_tails", "[]", list("tail", "", id, "Ids in a row."),
            "Rows of token ids that end the answer; their text is not part of it."),
       value("ignore_end", Type::kSwitch, "false",
             "Run on past the model's end tokens, to measure; refused in mode ship.")});
}

Spec parser() {
  return map("parser", "An answer's text to reasoning, content and tool calls.",
             {value("plugin", Type::kName, "auto",
                    "Output parser; none: all is content; auto: plumb.parsers.tags where the "
                    "template names one of its tags, else none."),
              value("options", Type::kFree, "{}", "Options of the parser, checked by it.")});
}

Spec plugins() {
  const Spec item = value("path", Type::kText, "", "One path.");
  return map("plugins", "Where plugins are found.",
             {list("paths", "[]", item,
                   "Libraries or folders of them, searched first; relative to the config that "
                   "names them.")});
}

Spec pipeline() {
  return map(
      "pipeline", "A pipeline config of Plumbline: which parts run a model, and how.",
      {required(number("plumbline", Type::kInteger, "", 1, 1, "Version of this config language.")),
       value("extends", Type::kText, "",
             "Another config that this one builds on, relative to this file. Maps are merged by "
             "key, lists and values replaced."),
       choice(
           "mode", {"lab", "ship"},
           "ship refuses what makes a run depend on more than this config: model files without "
           "sha256, lenient templates, scripted stages, penalties by a logit's sign or of control "
           "tokens, foreign engines."),
       model(), kernels(), runner(), tokenizer(), chat_template(), sampling(), context(),
       generation(), parser(), plugins()});
}

}  // namespace

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
  static const Spec spec = pipeline();
  return spec;
}

const std::vector<Exclusion>& exclusions() {
  static const std::vector<Exclusion> all{
      {"model.source.package",
       {"model.source.path", "model.source.sha256"},
       {"model.source.path", "model.source.sha256"}},
      {"model.source.path", {"model.source.package", "model.source.sha256"}, {}},
      {"tokenizer.path", {"tokenizer.sha256"}, {}},
      {"template.path", {"template.sha256"}, {}},
      {"sampling.profile", {"sampling.stages"}, {"sampling.stages"}},
      {"sampling.stages", {"sampling.profile"}, {}},
  };
  return all;
}

}  // namespace plumbline::config
