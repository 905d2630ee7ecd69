// Bisection of real pipelines on tiny models. Oracle: the config that was broken on purpose.
#include "core/diff/bisect.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/os/durable.h"
#include "core/base/os/fresh_folder.h"
#include "core/diff/bisect_prompt.h"
#include "core/diff/quantisation_text.h"
#include "core/diff/reduce.h"
#include "tests/support/diff_sides.h"
#include "tests/support/temporary_folder.h"

namespace plumbline::diff {
namespace {

using test::MadeSide;
using testing::ElementsAre;
using testing::HasSubstr;

class Opened : public OpenedSide {
 public:
  explicit Opened(std::unique_ptr<MadeSide> made) : made_(std::move(made)) {}
  Side& side() override { return *made_->side; }

 private:
  std::unique_ptr<MadeSide> made_;
};

BisectRequest request_for(std::vector<PromptInput> prompts) {
  BisectRequest request;
  request.diff.prompts = std::move(prompts);
  request.diff.n_steps = 2;
  request.open = [](const config::ResolvedConfig& config) -> Result<std::unique_ptr<OpenedSide>> {
    PLUMB_ASSIGN(auto made, test::make_side(config));
    return std::unique_ptr<OpenedSide>(std::make_unique<Opened>(std::move(made)));
  };
  return request;
}

std::vector<std::string> culprits_of(const BisectReport& report) {
  std::vector<std::string> names;
  for (const uint32_t item : report.culprits.items) names.push_back(report.choices[item].path);
  return names;
}

// Ten choices without effect on this prompt, and one op of one layer that another class of
// numerics computes.
const std::vector<std::string> kHarmless = {
    "kernels.threads=1",       "sampling.seed=7",      "context.reserve_output=3",
    "context.prefill_chunk=5", "context.policy=full",  "generation.max_tokens=9",
    "generation.stop=[abc]",   "template.thinking=on", "template.assistant=untrusted",
    "tokenizer.special=off"};

std::vector<std::string> with(std::vector<std::string> overrides,
                              const std::vector<std::string>& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

TEST(Bisect, FindsTheOneChoiceAndTheShortestPrompt) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side(
      "tiny-llama",
      with(kHarmless, {"kernels.overrides=[{op: ffn_act, layers: 1, backend: plumb.reference}]"}));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const auto report =
      bisect(*a->side, *b->side, request_for({{.text = "Mara the miller lives in the old mill."}}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->choices.size(), 11u);
  EXPECT_THAT(culprits_of(*report), ElementsAre("kernels.overrides: ffn_act, layers 1"));
  EXPECT_TRUE(report->culprits.is_minimal);
  EXPECT_FALSE(report->is_cut_short);
  EXPECT_EQ(report->symptom.door, Door::kOps);
  EXPECT_LE(report->runs.size(), 11u);
  EXPECT_LT(report->prompt.text.size(), 4u);
  EXPECT_EQ(report->n_steps, 0u);
  EXPECT_EQ(report->shown->place->op, "1.ffn_act");
}

// Door 40: the seed alone changes nothing while the draw is greedy, the draw alone nothing where
// one id is all but sure.
TEST(Bisect, FindsAStageOfTheSampler) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side("tiny-llama", with(kHarmless, {"sampling.stages=[temperature: {t: "
                                                                "5}, gumbel]"}));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const auto report = bisect(*a->side, *b->side, request_for({{.text = "Mara"}}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->symptom.door, Door::kPick);
  EXPECT_TRUE(report->culprits.is_minimal);
  for (const std::string& name : culprits_of(*report))
    EXPECT_THAT(name, HasSubstr("sampling.stages"));
}

TEST(Bisect, SaysWhereNothingDiffersInOutcome) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side("tiny-llama", kHarmless);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const auto report = bisect(*a->side, *b->side, request_for({{.text = "Mara"}}));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->symptom.verdict, Verdict::kMatch);
  EXPECT_TRUE(report->culprits.items.empty());
  const auto same = bisect(*a->side, *a->side, request_for({{.text = "Mara"}}));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->symptom.verdict, Verdict::kMatch);
  EXPECT_TRUE(same->runs.empty());
}

TEST(Bisect, StopsWithTheBestSoFar) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side("tiny-llama", with(kHarmless, {"kernels.kv=f16"}));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  BisectRequest request = request_for({{.text = "Mara the miller"}});
  uint32_t n_runs = 0;
  request.on_run = [&](const BisectRun&, uint32_t) { ++n_runs; };
  request.stop = [&] { return n_runs >= 3; };
  const auto report = bisect(*a->side, *b->side, request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->is_cut_short);
  EXPECT_FALSE(report->culprits.is_minimal);
  EXPECT_THAT(culprits_of(*report), testing::Contains("kernels.kv"));
}

// ---- Prompts

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST(Shorten, TakesWordsThenCharacters) {
  const auto shortest = shorten({.text = "one two threefold four  five"},
                                [](const PromptInput& prompt) -> Result<Outcome> {
                                  return has(prompt.text, "fold") && has(prompt.text, "v")
                                             ? Outcome::kReproduces
                                             : Outcome::kDiffers;
                                },
                                1000, {});
  ASSERT_TRUE(shortest);
  EXPECT_EQ(shortest->prompt.text, "foldv");
  EXPECT_FALSE(shortest->is_cut_short);
}

TEST(Shorten, TakesMessagesThenWords) {
  PromptInput prompt;
  prompt.messages = pipeline::OrderedJson::parse(
      R"({"messages": [{"role": "system", "content": "Be good."},
          {"role": "user", "content": "Say the word now"}, {"role": "assistant", "content": "No"}],
          "tools": []})");
  const auto shortest = shorten(prompt,
                                [](const PromptInput& tried) -> Result<Outcome> {
                                  return has(tried.messages->dump(), "word") ? Outcome::kReproduces
                                                                             : Outcome::kDiffers;
                                },
                                1000, {});
  ASSERT_TRUE(shortest);
  EXPECT_EQ(shortest->prompt.messages->dump(),
            R"({"messages":[{"role":"user","content":" word"}],"tools":[]})");
}

TEST(Shorten, TakesIdsAndStopsAtItsLimit) {
  const auto run = [](const PromptInput& prompt) -> Result<Outcome> {
    const auto& ids = prompt.ids;
    return std::count(ids.begin(), ids.end(), 7) > 0 ? Outcome::kReproduces : Outcome::kDiffers;
  };
  PromptInput prompt;
  for (int32_t id = 0; id < 100; ++id) prompt.ids.push_back(id);
  const auto shortest = shorten(prompt, run, 1000, {});
  ASSERT_TRUE(shortest);
  EXPECT_THAT(shortest->prompt.ids, ElementsAre(7));
  const auto cut = shorten(prompt, run, 2, {});
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->is_cut_short);
  EXPECT_EQ(cut->n_runs, 2u);
  EXPECT_THAT(cut->prompt.ids, testing::Contains(7));
}

// ---- Cases

TEST(Case, RefusesWhatIsInTheWay) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(check_free(folder.path("case")));
  EXPECT_FALSE(check_free(folder.path("")));
  EXPECT_FALSE(check_free(folder.path("no/case")));
}

TEST(Case, SaysWhatMustComeOutAndNothingMayBeMissing) {
  const nlohmann::json whole{{"verdict", "WRONG"}, {"door", "20 ops"}, {"op", "3.attend"},
                             {"tokens", 2},        {"seed", 7},        {"at", 4},
                             {"seen_a", "x"},      {"seen_b", "y"},    {"noise_sha256", nullptr}};
  const auto good = parse_expected(whole.dump(), "e");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->symptom.text(), "WRONG at 20 ops, 3.attend");
  EXPECT_EQ(good->n_steps, 2u);
  EXPECT_EQ(good->seed, 7u);
  const auto refuses = [](const std::string& text, const std::string& key) {
    const auto parsed = parse_expected(text, "expected.json");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, PLUMB_CORRUPT);
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("expected.json: " + key));
  };
  refuses("", "");
  refuses("[]", "");
  for (const auto& [key, value] : whole.items()) {
    nlohmann::json broken = whole;
    broken.erase(key);
    refuses(broken.dump(), key);
    broken[key] = value.is_string() ? nlohmann::json(1) : nlohmann::json(-1);
    refuses(broken.dump(), key);
  }
  for (const auto& [key, value] : {std::pair<std::string, nlohmann::json>{"verdict", "BAD"},
                                   {"door", "21"},
                                   {"tokens", 5000000000}}) {
    nlohmann::json broken = whole;
    broken[key] = value;
    refuses(broken.dump(), key);
  }
}

TEST(Case, IsWholeAndLoadsAgain) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side("tiny-llama", with(kHarmless, {"kernels.kv=f16"}));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  const auto report = bisect(*a->side, *b->side, request_for({{.text = "Mara the miller"}}));
  ASSERT_TRUE(report) << report.error().message;
  const test::TemporaryFolder folder;
  const auto written =
      write_case(*report, *a->side,
                 {.folder = folder.path("case"), .noise_json = "{}\n", .made_by = "a test"});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_THAT(folder.files(), ElementsAre("case"));
  for (const char* name :
       {kConfigA, kConfigB, kPrompt, kExpected, kNoise, "README.md", "reproduce"})
    EXPECT_TRUE(std::filesystem::exists(folder.path("case/") + name)) << name;
  const auto loaded_a = config::load_config({.file = folder.path("case/a.yaml")});
  const auto loaded_b = config::load_config({.file = folder.path("case/b.yaml")});
  ASSERT_TRUE(loaded_a && loaded_b);
  const Choices choices(loaded_a->tree, loaded_b->tree);
  std::vector<std::string> paths;
  for (const Choice& one : choices.list()) paths.push_back(one.path);
  EXPECT_THAT(paths, ElementsAre("kernels.kv"));
  EXPECT_FALSE(loaded_a->config.model.source.sha256.empty());
}

/// Names a file for a part of a config.
void set_path(config::ResolvedConfig& config, const std::string& part, const std::string& path) {
  config::Value& map = *config.tree.at(part);
  const auto value = config::Value::make(config::Value::Kind::kScalar, map.origin, path);
  if (config::Value* const there = map.find("path")) {
    *there = value;
  } else {
    map.entries.push_back({"path", map.origin, value});
  }
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Templates of one name and other text, tokenizers of one text, and another process at work on the
// case.
TEST(Case, KeepsEachFileOnceAndOthersFoldersApart) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("other"));
  const std::string one = folder.write("same.jinja", "one");
  const std::string other = folder.write("other/same.jinja", "other");
  const std::string tokenizer = folder.write("tokenizer.json", "{}");
  const auto a = test::make_side("tiny-llama", {"template.path=" + one});
  const auto b = test::make_side("tiny-llama", {"template.path=" + one, "kernels.kv=f16"});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  auto report = bisect(*a->side, *b->side, request_for({{.text = "Mara the miller"}}));
  ASSERT_TRUE(report) << report.error().message;
  set_path(*report->mixture, "template", other);
  set_path(*report->mixture, "tokenizer", tokenizer);
  CaseRequest request;
  request.folder = folder.path("case");
  request.made_by = "a test";
  auto others = os::FreshFolder::create(request.folder);
  ASSERT_TRUE(others) << others.error().message;
  ASSERT_TRUE(os::write_file(others->path() + "/theirs", "x"));
  const auto written = write_case(*report, *a->side, request);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(std::filesystem::exists(others->path() + "/theirs"));
  EXPECT_FALSE(std::move(*others).publish()) << "who comes second replaces nothing";
  EXPECT_EQ(text_of_file(folder.path("case/template-same.jinja")), "one");
  EXPECT_EQ(text_of_file(folder.path("case/b-template-same.jinja")), "other");
  EXPECT_EQ(text_of_file(folder.path("case/tokenizer-tokenizer.json")), "{}");
  set_path(*report->mixture, "template", one);
  request.folder = folder.path("again");
  const auto again = write_case(*report, *a->side, request);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(text_of_file(folder.path("again/template-same.jinja")), "one");
  EXPECT_FALSE(std::filesystem::exists(folder.path("again/b-template-same.jinja")));
}

// Of a difference that no noise level decides there is none to keep; the op is named whatever the
// verdict.
TEST(Case, HasTheNoiseLevelsThatItsVerdictNeeds) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side("tiny-llama", {"kernels.kv=f16"});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  auto report = bisect(*a->side, *b->side, request_for({{.text = "Mara the miller"}}));
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->shown);
  const test::TemporaryFolder folder;
  const auto has_noise = [&](const std::string& name) {
    const auto written =
        write_case(*report, *a->side,
                   {.folder = folder.path(name), .noise_json = "{}\n", .made_by = "a test"});
    EXPECT_TRUE(written) << written.error().message;
    return std::filesystem::exists(folder.path(name + "/" + kNoise));
  };
  EXPECT_TRUE(has_noise("unequal_classes"));
  for (OpErrors& op : report->shown->ops) op.budget = 0;
  for (LogitErrors& row : report->shown->logits) row.noise = 0;
  EXPECT_FALSE(has_noise("equal_bits"));
  report->shown->ops.front().budget = std::nullopt;  // no level: another file's might have one
  report->symptom = {Verdict::kUnexplained, Door::kOps, ""};
  report->shown->place.emplace();
  report->shown->place->door = Door::kOps;
  report->shown->place->op = "1.attend";
  EXPECT_TRUE(has_noise("no_level"));
  const auto expected =
      parse_expected(text_of_file(folder.path("no_level/expected.json")), "expected.json");
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(expected->op, "1.attend");
  EXPECT_EQ(expected->symptom, report->symptom);
  report->shown->place->door = Door::kPrompt;
  EXPECT_FALSE(has_noise("in_the_prompt"));
}

// ---- Texts

TEST(ScoreText, ScoresTheSecondHalfOfEachChunkOnBothSides) {
  const auto a = test::make_side("tiny-formats", {"kernels.activations=f32"});
  const auto b = test::make_side("tiny-formats");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  std::string text;
  for (int i = 0; i < 20; ++i) text += "Mara the miller lives in the old mill. ";
  uint32_t n_told = 0;
  TextRequest request;
  request.text = text;
  request.context = 16;
  request.n_chunks = 3;
  request.on_chunk = [&](uint32_t done, uint32_t of, std::span<const Scored> rows) {
    EXPECT_EQ(done, ++n_told);
    EXPECT_EQ(of, 3u);
    EXPECT_EQ(rows.size(), 7 * done);
  };
  const auto both = score_text(*a->side, b->side.get(), request);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(n_told, 3u);
  EXPECT_EQ(both->n_ids, 21u);
  EXPECT_GT(both->n_bytes, 0u);
  EXPECT_GT(both->cost->kl.value, 0);
  n_told = 0;
  const auto alone = score_text(*a->side, nullptr, request);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->a.nll.value, both->a.nll.value);
  n_told = 0;
  const auto twin = test::make_side("tiny-formats", {"kernels.activations=f32"});
  ASSERT_NE(twin, nullptr);
  const auto itself = score_text(*a->side, twin->side.get(), request);
  ASSERT_TRUE(itself);
  EXPECT_EQ(itself->cost->kl.value, 0);
  EXPECT_EQ(itself->cost->kl_percentiles.front().value, 0);
}

TEST(ScoreText, RefusesWhatItCannotScore) {
  const auto a = test::make_side("tiny-llama");
  const auto b = test::make_side("tiny-gemma3");
  ASSERT_TRUE(a != nullptr && b != nullptr);
  TextRequest request;
  request.text = "Mara";
  const auto short_text = score_text(*a->side, nullptr, request);
  ASSERT_FALSE(short_text);
  EXPECT_THAT(short_text.error().message, HasSubstr("expected at least the 512 of one chunk"));
  for (const uint32_t context : {0u, 3u, 7u}) {
    request.context = context;
    EXPECT_FALSE(score_text(*a->side, nullptr, request));
  }
  request.context = 4;
  const auto strangers = score_text(*a->side, b->side.get(), request);
  ASSERT_FALSE(strangers);
  EXPECT_EQ(strangers.error().code, PLUMB_INCOMPATIBLE);
}

}  // namespace
}  // namespace plumbline::diff
