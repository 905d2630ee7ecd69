// Conversations of several turns, each with what its last prompt must say. The table is
// scenarios.jsonl; the oracle of a prompt is ChatML written down message by
// message.
#include <algorithm>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using pipeline::StopReason;
using Json = nlohmann::json;
using testing::HasSubstr;

constexpr const char* kBegun = "<|im_start|>assistant\n";

std::string chatml(const Json& messages) {
  std::string text;
  for (const Json& one : messages) {
    if (one.is_object()) {
      for (int i = 0; i < one["repeat"]; ++i) text += chatml(one["messages"]);
    } else {
      text += "<|im_start|>" + one[0].get<std::string>() + "\n" + one[1].get<std::string>() +
              "<|im_end|>\n";
    }
  }
  return text;
}

class Play {
 public:
  explicit Play(const Json& scenario) : scenario_(scenario) {
    settings_ = scenario.value("settings", std::vector<std::string>());
    settings_.push_back("generation.max_tokens=200");
    if (scenario.contains("template")) {
      settings_.push_back("template.path=" +
                          folder_.write("t.jinja", scenario["template"].get<std::string>()));
    }
    begin({});
  }

  void run() {
    for (const Json& step : scenario_["steps"]) {
      for (int i = 0; i < step.value("repeat", 1); ++i) {
        if (step.contains("room")) begin_with_room(step);
        if (step.contains("says")) talk_->will_say(step["says"].get<std::string>() + "<|im_end|>");
        act(step, step["do"]);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    expect_prompt();
  }

 private:
  void begin(std::vector<std::string> more) {
    more.insert(more.begin(), settings_.begin(), settings_.end());
    talk_.emplace(more);
    request_ = {};
  }
  // A new conversation whose context has so many rows behind the prompt.
  void begin_with_room(const Json& step) {
    const auto messages = OrderedJson::array({message("user", step["text"])});
    const auto prompt = talk_->pipeline().render(messages, {});
    const size_t n_rows = (*talk_->pipeline().encode_prompt(*prompt)).ids.size();
    begin({"context.length=" + std::to_string(n_rows + step["room"].get<size_t>())});
  }

  void act(const Json& step, const std::string& what) {
    Conversation& talk = **talk_;
    const std::string text = step.value("text", "");
    if (step.contains("max_tokens")) request_.max_tokens = step["max_tokens"].get<uint32_t>();
    if (what == "system") {
      PLUMB_ASSERT_OK(talk.set_system(text));
    } else if (what == "ask") {
      expect_said(talk.ask(text, request_), step["says"]);
    } else if (what == "edit") {
      expect_said(talk.edit(step["message"], message("user", text), request_), step["says"]);
    } else if (what == "begun") {
      const std::vector asked = {message("user", text), message("assistant", step["begin"])};
      expect_said(talk.ask(asked, request_), step["says"]);
    } else if (what == "results") {
      std::vector<OrderedJson> results;
      for (const Json& result : step["results"]) results.push_back(message("tool", result));
      expect_said(talk.give(results, request_), step["says"]);
    } else if (what == "refused") {
      const auto refused = talk.ask(text, request_);
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().message, HasSubstr(step["why"].get<std::string>()));
      EXPECT_EQ(talk_->messages().size(), 0u);
    } else if (what == "cancel") {
      cancel(step);
    } else if (what == "race") {
      race(step);
    } else {
      FAIL() << "no such step: " << what;
    }
  }

  void expect_said(const Result<Answer>& answer, const std::string& says) {
    PLUMB_ASSERT_OK(answer);
    prompt_ids_ = answer->prompt_ids;
    n_evicted_ += answer->evicted.n_tokens > 0;
    // Thoughts and calls are no content.
    if (says.find("<t") == std::string::npos) {
      EXPECT_EQ(answer->text, says);
    }
  }

  void cancel(const Json& step) {
    std::string delivered;
    conversation::Request request = request_;
    request.on_text = [&](std::string_view more) {
      delivered += more;
      if (delivered == step["after"]) (*talk_)->cancel();
    };
    const auto answer = (*talk_)->ask(step["text"].get<std::string>(), request);
    PLUMB_ASSERT_OK(answer);
    EXPECT_EQ(answer->stop_reason, StopReason::kCancelled);
    EXPECT_EQ(answer->text, step["after"].get<std::string>());
  }

  // The second request comes in the middle of the first one's answer, and waits.
  void race(const Json& step) {
    std::thread second;
    conversation::Request request = request_;
    request.on_text = [&](std::string_view) {
      if (second.joinable()) return;
      second = std::thread([&] {
        expect_said((*talk_)->ask(step["second"].get<std::string>(), request_), step["says"]);
      });
    };
    const auto first = (*talk_)->ask(step["text"].get<std::string>(), request);
    ASSERT_TRUE(second.joinable());
    second.join();
    expect_said(first, step["says"]);
  }

  void expect_prompt() {
    const auto& tokenizer = **talk_->pipeline().tokenizer();
    const std::string prompt = *tokenizer.decode(prompt_ids_);
    const auto n_control_ids =
        static_cast<size_t>(std::ranges::count_if(prompt_ids_, [&](int32_t id) {
          return (tokenizer.attributes(id) & PLUMB_TOKEN_CONTROL) != 0;
        }));
    const std::string begun = kBegun + scenario_.value("prompt_is_begun_with", "");
    if (scenario_.contains("prompt")) {
      EXPECT_EQ(prompt, chatml(scenario_["prompt"]) + begun);
    } else {
      EXPECT_THAT(prompt, testing::StartsWith(chatml(scenario_["prompt_begins"])));
      EXPECT_THAT(prompt, testing::EndsWith(chatml(scenario_["prompt_ends"]) + begun));
    }
    EXPECT_EQ(n_evicted_ > 0, scenario_.value("evicts", false));
    if (scenario_.contains("n_control_ids")) {
      EXPECT_EQ(n_control_ids, scenario_["n_control_ids"].get<size_t>());
    }
    if (scenario_.contains("last")) {
      EXPECT_EQ(talk_->messages().back()["content"], scenario_["last"].get<std::string>());
    }
  }

  const Json& scenario_;
  TemporaryFolder folder_;
  std::vector<std::string> settings_;
  std::optional<TinyTalk> talk_;
  conversation::Request request_;
  std::vector<int32_t> prompt_ids_;  // of the last answer
  int n_evicted_ = 0;
};

TEST(Scenarios, SayWhatTheyMust) {
  const auto scenarios = read_jsonl(PLUMB_SOURCE_DIR "/tests/unit/conversation/scenarios.jsonl");
  EXPECT_EQ(scenarios.size(), 12u);
  for (const Json& scenario : scenarios) {
    SCOPED_TRACE(scenario["name"].get<std::string>());
    Play(scenario).run();
  }
}

}  // namespace
}  // namespace plumbline::test
