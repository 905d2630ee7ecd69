// Causes of the doors of text in the report of a whole comparison, on the demo model: each mutant
// that changes anything is placed at its door and named there. Oracle: the mutant that was made.
#include "core/diff/engine.h"

#include <gmock/gmock.h>

#include <set>

#include "core/config/load.h"
#include "core/diff/text_signatures/metadata.h"
#include "tests/support/mutants.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

using diff::Door;
using diff::PromptInput;
using nlohmann::json;
using ::testing::IsSupersetOf;
using Configure = std::function<void(config::PipelineConfig&)>;

const std::string& model_path() {
  static const std::string kPath = golden_path("models/tiny-world/model.gguf");
  return kPath;
}

class DiffSide {
 public:
  explicit DiffSide(const std::string& setting = "", const Configure& configure = {}) {
    config::LoadRequest request{.file = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml",
                                .overrides = {"kernels.backend=plumb.cpu.scalar"},
                                .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}};
    if (!setting.empty()) request.overrides.push_back(setting);
    auto resolved = config::load_config(request);
    EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
    if (!resolved) return;
    config_ = std::make_unique<config::ResolvedConfig>(*std::move(resolved));
    if (configure) configure(config_->config);
    auto opened = pipeline::Pipeline::open(config_->config, host(), model_path());
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    if (!opened) return;
    pipeline_ = *std::move(opened);
    auto made =
        diff::make_side({.name = "tiny-world", .model_sha256 = "the same"}, *config_, *pipeline_);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    if (made) side_ = *std::move(made);
  }
  diff::Side& operator*() const { return *side_; }
  pipeline::Pipeline* operator->() const { return pipeline_.get(); }

 private:
  std::unique_ptr<config::ResolvedConfig> config_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<diff::Side> side_;
};

/// Mutants that were placed and named; the first that was not is told.
class Named {
 public:
  void check(const std::string& mutant, const std::string& wanted, Door door, const DiffSide& a,
             const DiffSide& b, PromptInput prompt, uint32_t n_steps) {
    const auto report = diff::compare(*a, *b, {.prompts = {std::move(prompt)}, .n_steps = n_steps});
    ASSERT_TRUE(report) << mutant << ": " << report.error().message;
    const diff::PromptReport& found = report->prompts.at(0);
    // Nothing that it breaks was met, or it made no odds.
    if (found.verdict < diff::Verdict::kUnexplained) return;
    ASSERT_TRUE(found.place) << mutant;
    EXPECT_EQ(found.place->door, door) << mutant;
    ASSERT_TRUE(found.cause) << mutant << ": " << wanted << " is not named";
    EXPECT_TRUE(explains_place(found)) << mutant;
    EXPECT_TRUE(found.cause->signature == wanted || std::ranges::count(found.cause->also, wanted))
        << mutant << ": " << wanted << " expected, " << found.cause->signature << " named";
    names_.insert(wanted);
  }
  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
};

/// The demo model's vocabulary as a tokenizer.json with all that can be broken: a prefix, a normal
/// form, a space in front.
Vocabulary demo_vocabulary() {
  const TextPipeline demo(model_path(), "");
  const auto file = demo->tokenizer_file();
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  const plumb_metadata& metadata = (*file)->metadata();
  const auto tokens = diff::texts_of(metadata, "tokenizer.ggml.tokens");
  const auto types = diff::integers_of(metadata, "tokenizer.ggml.token_type");
  json vocabulary = json::object(), added = json::array();
  for (size_t id = 0; id < tokens.size(); ++id) {
    vocabulary[tokens[id]] = id;
    constexpr int32_t kControl = 3;
    if (types[id] != kControl) continue;
    added.push_back({{"id", id}, {"content", tokens[id]}, {"special", true}});
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"})
      added.back()[flag] = false;
  }
  const std::string first = added.at(0)["content"];
  Vocabulary made;
  made.tokenizer = json::parse(R"({
      "version": "1.0", "truncation": null, "padding": null, "normalizer": {"type": "NFC"},
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                        "use_regex": true},
      "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                  "use_regex": true}})");
  made.tokenizer["added_tokens"] = added;
  made.tokenizer["model"] = {{"type", "BPE"},
                             {"vocab", vocabulary},
                             {"merges", diff::texts_of(metadata, "tokenizer.ggml.merges")}};
  const json prefix = {{"SpecialToken", {{"id", first}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  made.tokenizer["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {prefix, text}},
      {"pair", {prefix, text, {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}}},
      {"special_tokens",
       {{first, {{"id", first}, {"ids", {added.at(0)["id"]}}, {"tokens", {first}}}}}}};
  made.config["bos_token"] = first;
  return made;
}

/// In a folder of its own.
std::string setting_of(const TemporaryFolder& folder, const Vocabulary& vocabulary) {
  folder.write("tokenizer_config.json", vocabulary.config.dump());
  return "tokenizer.path=" + folder.write("tokenizer.json", vocabulary.tokenizer.dump());
}

std::optional<PromptInput> parting_text(const DiffSide& a, const DiffSide& b) {
  for (const char* text : {"WE'LL see the mill in 1984,\r\nI'm  sure", "Cafe\u0301 \uff24 \u2461",
                           "<|im_start|>Mara<|im_end|>"}) {
    const auto ids_a = a->encode_prompt({.bytes = text});
    const auto ids_b = b->encode_prompt({.bytes = text});
    if (ids_a && ids_b && ids_a->ids != ids_b->ids) return PromptInput{.text = text};
  }
  return std::nullopt;
}

TEST(CausesOfAComparison, AreThoseOfTokenizers) {
  const Vocabulary whole = demo_vocabulary();
  const TemporaryFolder folder_a;
  const DiffSide a(setting_of(folder_a, whole));
  std::vector<TokenizerMutant> mutants = encoding_mutants();
  mutants.push_back({"added_token_split", "no added tokens", [](json& tokenizer, json&) {
                       tokenizer["added_tokens"] = json::array();
                       return true;
                     }});
  Named named;
  for (const TokenizerMutant& mutant : mutants) {
    Vocabulary broken = whole;
    if (!mutant.apply(broken.tokenizer, broken.config)) continue;
    const TemporaryFolder folder_b;
    const DiffSide b(setting_of(folder_b, broken));
    const auto prompt = parting_text(a, b);
    if (!prompt) continue;
    const std::string what = std::string(mutant.cause) + ", " + mutant.how;
    named.check(what, mutant.cause, Door::kTokens, a, b, *prompt, 0);
  }
  EXPECT_THAT(named.names(),
              IsSupersetOf({"bos_missing", "bos_doubled", "prefix_space_lost", "normaliser_wrong",
                            "added_token_split", "pre_tokenizer_wrong"}));
}

TEST(CausesOfAComparison, AreThoseOfTemplates) {
  const TemporaryFolder folder;
  const auto messages = pipeline::OrderedJson::parse(R"([
      {"role": "system", "content": " Be brief. "}, {"role": "user", "content": " hello there "}])");
  Named named;
  for (const char* name : {"qwen2.5-coder-0.5b", "public/llama3.1", "public/alpaca"}) {
    const std::string source =
        text_of_file(golden_path(std::string("templates/") + name + ".jinja"));
    const DiffSide a("template.path=" + folder.write("a.jinja", source));
    for (const TemplateMutant& mutant : template_mutants()) {
      const auto broken = mutant.apply(source);
      if (!broken) continue;
      const DiffSide b("template.path=" + folder.write("b.jinja", *broken));
      named.check(std::string(name) + ", " + mutant.cause + ", " + mutant.how, mutant.cause,
                  Door::kPrompt, a, b, {.messages = messages}, 0);
    }
  }
  EXPECT_THAT(named.names(),
              IsSupersetOf({"generation_prompt_missing", "generation_prompt_doubled",
                            "content_stripped", "trailing_newline_lost", "trim_blocks_off"}));
}

TEST(CausesOfAComparison, AreThoseOfStages) {
  const auto messages =
      pipeline::OrderedJson::parse(R"([{"role": "user", "content": "hello there"}])");
  const config::StageConfig top_k = {"top_k", config::kAuto, R"({"k": 30})"};
  const config::StageConfig top_p = {"top_p", config::kAuto, R"({"p": 0.9})"};
  const config::StageConfig heat = {"temperature", config::kAuto, R"({"t": 3})"};
  const config::StageConfig cdf = {"cdf", config::kAuto, "{}"};
  Named named;
  // The model is sure of itself: where the temperature stands first, the others have more to cut.
  for (const std::vector<config::StageConfig>& chain :
       {std::vector{top_k, top_p, heat, cdf}, std::vector{heat, top_p, top_k, cdf}}) {
    const DiffSide a("", [&](config::PipelineConfig& config) { config.sampling.stages = chain; });
    for (const SamplingMutant& mutant : sampling_mutants()) {
      const DiffSide b("", [&](config::PipelineConfig& config) {
        config.sampling.stages = chain;
        mutant.apply(config.sampling);
      });
      named.check(chain[0].stage + " first, " + mutant.cause + ", " + mutant.how, mutant.cause,
                  Door::kPick, a, b, {.messages = messages}, 8);
    }
  }
  EXPECT_THAT(named.names(),
              IsSupersetOf({"temperature_before_truncation", "stage_missing", "stage_order_changed",
                            "parameter_changed", "draw_changed"}));
}

}  // namespace
}  // namespace plumbline::test
