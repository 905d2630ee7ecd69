// A cause of a door of text in the report of a whole comparison, on the demo model. Oracle: the one
// choice in which B's config differs.
#include "core/diff/engine.h"
#include "core/config/load.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

class DiffSide {
 public:
  explicit DiffSide(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), "kernels.backend=plumb.cpu.scalar");
    auto resolved =
        config::load_config({.file = PLUMB_SOURCE_DIR "/configs/pipelines/tiny-world.yaml",
                             .overrides = std::move(overrides),
                             .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
    EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
    if (!resolved) return;
    config_ = std::make_unique<config::ResolvedConfig>(*std::move(resolved));
    auto opened = pipeline::Pipeline::open(config_->config, host(),
                                           golden_path("models/tiny-world/model.gguf"));
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    if (!opened) return;
    pipeline_ = *std::move(opened);
    auto made = diff::make_side({.name = "tiny-world"}, *config_, *pipeline_);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    if (made) side_ = *std::move(made);
  }
  diff::Side& operator*() const { return *side_; }

 private:
  std::unique_ptr<config::ResolvedConfig> config_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<diff::Side> side_;
};

void expect_cause(const char* wanted, diff::Door door, const DiffSide& a, const DiffSide& b) {
  diff::DiffRequest request;
  request.prompts.push_back({.messages = pipeline::OrderedJson::parse(
                                 R"([{"role": "user", "content": "hello there"}])")});
  request.n_steps = 12;
  const auto report = diff::compare(*a, *b, request);
  ASSERT_TRUE(report) << report.error().message;
  const diff::PromptReport& prompt = report->prompts.at(0);
  ASSERT_TRUE(prompt.place);
  EXPECT_EQ(prompt.place->door, door);
  ASSERT_TRUE(prompt.cause);
  EXPECT_EQ(prompt.cause->signature, wanted);
}

TEST(TextCauses, OfTheTemplateAreReported) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("chat.jinja", "{%- set add_generation_prompt = false %}" +
                                     text_of_file(golden_path("templates/tiny-world.jinja")));
  expect_cause("generation_prompt_missing", diff::Door::kPrompt, DiffSide({}),
               DiffSide({"template.path=" + path}));
}

TEST(TextCauses, OfTheStagesAreReported) {
  const char* kStages = "sampling.stages=[{top_p: {p: 0.6}}, {temperature: {t: 3}}, cdf]";
  const char* kOther = "sampling.stages=[{temperature: {t: 3}}, {top_p: {p: 0.6}}, cdf]";
  expect_cause("temperature_before_truncation", diff::Door::kPick, DiffSide({kStages}),
               DiffSide({kOther}));
}

}  // namespace
}  // namespace plumbline::test
