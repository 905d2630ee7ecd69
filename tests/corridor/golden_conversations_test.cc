// Conversations on the chat models, turn by turn. Oracle: transformers in f32, greedy, on the
// transcript rendered by its own template environment (golden/conversations).
#include <algorithm>
#include <cstdlib>

#include "core/config/load.h"
#include "core/conversation/conversation.h"
#include "tests/support/build_host.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pulled_model.h"

namespace plumbline::test {
namespace {

using conversation::Conversation;
using conversation::OrderedJson;

// Logits of the f32 kernels and of transformers lie within 2e-4 of each other (tests/differential,
// real_models_test): a lead below twice that may go to either.
constexpr double kTieGap = 4e-4;

struct Model {
  const char* config;
  const char* name;
};

struct Scenario {
  OrderedJson steps;
  OrderedJson tools;
  OrderedJson context;
  std::string history_ids;
  std::vector<nlohmann::json> expected;  // one for each answer
};

std::string length_of(const Scenario& scenario) {
  const nlohmann::json& last = scenario.expected.back();
  const uint32_t length = last.value("context_length", 1024u);
  return "context.length=" + std::to_string(length);
}

class Actor {
 public:
  Actor(const Model& model, const Scenario& scenario) : scenario_(scenario) { begin(model); }

  /// Answers that were compared to their end; fewer than there are if a tie went the other way.
  size_t act() {
    size_t n_answers = 0;
    if (conversation_ == nullptr) return 0;
    for (const OrderedJson& step : scenario_.steps) {
      if (testing::Test::HasFailure()) break;
      if (step.contains("given")) {
        given_.insert(given_.end(), step["given"].begin(), step["given"].end());
        continue;
      }
      SCOPED_TRACE("answer " + std::to_string(n_answers));
      if (!compare(step, scenario_.expected.at(n_answers))) break;
      ++n_answers;
    }
    return n_answers;
  }

 private:
  void begin(const Model& model) {
    std::vector<std::string> overrides{"sampling.profile=diff-greedy", "kernels.activations=f32",
                                       "context.history_ids=" + scenario_.history_ids,
                                       "parser.plugin=none", length_of(scenario_)};
    for (const auto& [key, value] : scenario_.context.items()) {
      if (key != "length") overrides.push_back("context." + key + "=" + value.dump());
    }
    const auto resolved = config::load_config(
        {.file = std::string(PLUMB_SOURCE_DIR "/configs/pipelines/") + model.config + ".yaml",
         .overrides = overrides,
         .preset_folders = {PLUMB_SOURCE_DIR "/configs/presets"}});
    if (!resolved) return fail(resolved.error());
    auto opened = pipeline::Pipeline::open(resolved->config, host(), pulled_model(model.name));
    if (!opened) return fail(opened.error());
    pipeline_ = *std::move(opened);
    auto made = Conversation::create(*pipeline_, conversation::options_of(pipeline_->config()));
    if (!made) return fail(made.error());
    conversation_ = *std::move(made);
    if (!scenario_.tools.is_array()) return;
    if (const auto set = conversation_->set_variables({{"tools", scenario_.tools}}); !set)
      fail(set.error());
  }

  void fail(const Error& error) { ADD_FAILURE() << error.message; }

  Result<conversation::Answer> answer(const OrderedJson& step,
                                      const conversation::Request& request) {
    if (step.contains("edit")) {
      const size_t index = step["edit"];
      return conversation_->edit(index, OrderedJson{{"role", "user"}, {"content", step["content"]}},
                                 request);
    }
    std::vector<OrderedJson> messages = std::move(given_);
    given_.clear();
    messages.insert(messages.end(), step["say"].begin(), step["say"].end());
    if (step.contains("continue")) {
      messages.push_back({{"role", "assistant"}, {"content", step["continue"]}});
    }
    return conversation_->ask(std::move(messages), request);
  }

  // False: a tie went the other way, and nothing behind it can be compared.
  bool compare(const OrderedJson& step, const nlohmann::json& expected) {
    const std::vector<int32_t> ids = expected.at("ids");
    const std::string text = expected.at("text");
    conversation::Request request;
    request.max_tokens = step.at("max_tokens").get<uint32_t>();
    std::string delivered;
    if (step.contains("cancel_after")) {
      request.on_text = [&](std::string_view piece) {
        delivered += piece;
        if (delivered == text) conversation_->cancel();
      };
    }
    const auto said = answer(step, request);
    if (!said) {
      fail(said.error());
      return false;
    }
    EXPECT_EQ(said->prompt_ids, expected.at("prompt_ids").get<std::vector<int32_t>>());
    EXPECT_EQ(n_groups(said->evicted), expected.at("evicted_groups"));
    EXPECT_EQ(said->n_spoken, expected.value("n_spoken", said->n_spoken));
    EXPECT_EQ(said->n_mismatches, expected.value("n_mismatches", said->n_mismatches));
    EXPECT_EQ(said->n_reused_rows, n_common_with_held(said->prompt_ids));
    const auto [ours, theirs] =
        std::mismatch(said->ids.begin(), said->ids.end(), ids.begin(), ids.end());
    if (theirs != ids.end() && ours != said->ids.end()) {
      const double gap = expected.at("gaps").at(static_cast<size_t>(theirs - ids.begin()));
      EXPECT_LT(gap, kTieGap) << "at token " << theirs - ids.begin();
      return false;
    }
    EXPECT_EQ(said->ids.size(), ids.size());
    held_ = said->prompt_ids;
    held_.insert(held_.end(), ids.begin(), ids.end() - 1);  // the last one was not run
    const std::string begun = step.value("continue", "");
    EXPECT_EQ(said->message.at("content"), begun + text);
    EXPECT_EQ(said->stop_reason == pipeline::StopReason::kCancelled, step.contains("cancel_after"));
    return true;
  }

  // Rows that need not run again; the last id always does.
  size_t n_common_with_held(std::span<const int32_t> prompt_ids) const {
    const std::span<const int32_t> most = prompt_ids.first(prompt_ids.size() - 1);
    return static_cast<size_t>(std::ranges::mismatch(held_, most).in2 - most.begin());
  }

  // Every group of these scenarios that is evicted has a user's message and an answer.
  static size_t n_groups(const conversation::Evicted& evicted) {
    return (evicted.messages.last - evicted.messages.first) / 2;
  }

  const Scenario& scenario_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<Conversation> conversation_;
  std::vector<OrderedJson> given_;
  std::vector<int32_t> held_;  // ids that have rows
};

/// A set of scenarios, and what the files with its answers end with.
struct ScenarioSet {
  const char* name;
  const char* answers;
};
constexpr ScenarioSet kSets[] = {{"scenarios", ".jsonl"}, {"stored", ".stored.jsonl"}};

Scenario scenario_of(const OrderedJson& listed, const std::string& history_ids,
                     const std::string& answers) {
  Scenario scenario{listed["steps"],
                    listed.value("tools", OrderedJson()),
                    listed.value("context", OrderedJson::object()),
                    history_ids,
                    {}};
  for (const nlohmann::json& line : read_jsonl(golden_path("conversations/" + answers))) {
    if (line["scenario"] == listed["name"]) scenario.expected.push_back(line);
  }
  return scenario;
}

class GoldenConversations : public testing::TestWithParam<Model> {};

TEST_P(GoldenConversations, AreThoseOfTransformers) {
  const Model& model = GetParam();
  ASSERT_NE(pulled_model(model.name), "") << "plumb model pull " << model.name;
  const bool is_long = std::getenv("PLUMB_LONG_TESTS") != nullptr;
  const std::vector<std::string> short_run{"edit", "evict_to", "forged_role", "stored_cancel",
                                           "stored_begun"};
  size_t n_expected = 0, n_compared = 0;
  for (const ScenarioSet& set : kSets) {
    const std::string list = std::string("conversations/") + set.name + ".json";
    const auto listing = OrderedJson::parse(read_file(golden_path(list)));
    for (const OrderedJson& listed : listing["scenarios"]) {
      const std::string name = listed["name"];
      if (!is_long && std::ranges::find(short_run, name) == short_run.end()) continue;
      SCOPED_TRACE(name);
      const Scenario scenario = scenario_of(listed, listing.value("history_ids", "retokenise"),
                                            std::string(model.name) + set.answers);
      ASSERT_FALSE(scenario.expected.empty());
      n_expected += scenario.expected.size();
      n_compared += Actor(model, scenario).act();
    }
  }
  ASSERT_GT(n_expected, 10u);
  // One tie in a scenario may hide the answers behind it.
  EXPECT_GE(n_compared + 2, n_expected);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenConversations,
                         testing::Values(Model{"smollm2", "smollm2-135m"},
                                         Model{"qwen2.5-coder", "qwen2.5-coder-0.5b"}),
                         [](const auto& one) { return std::to_string(one.index); });

}  // namespace
}  // namespace plumbline::test
