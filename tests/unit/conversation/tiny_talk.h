// tiny_talk.h: a conversation with the demo model, whose answers a script says.
#pragma once

#include <gmock/gmock.h>

#include "core/conversation/conversation.h"
#include "tests/unit/pipeline/tiny_world.h"

namespace plumbline::test {

using conversation::Answer;
using conversation::Conversation;
using pipeline::OrderedJson;

/// Makes a test stop where a result is an error, with its message.
#define PLUMB_ASSERT_OK(result) ASSERT_TRUE(result) << (result).error().message

inline OrderedJson message(const std::string& role, const std::string& text) {
  return {{"role", role}, {"content", text}};
}

class TinyTalk {
 public:
  explicit TinyTalk(std::vector<std::string> overrides = {},
                    const std::function<void(conversation::Options&)>& change = {},
                    Host& plugins = host())
      : pipeline_(tiny_world(std::move(overrides), plugins)) {
    conversation::Options options = conversation::options_of(pipeline_->config());
    if (change) change(options);
    auto made = Conversation::create(*pipeline_, options);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    if (made) talk_ = *std::move(made);
  }

  Conversation& operator*() { return *talk_; }
  Conversation* operator->() { return talk_.get(); }
  pipeline::Pipeline& pipeline() { return *pipeline_; }
  model::Decoder& decoder() { return **pipeline_->decoder(); }

  std::vector<int32_t> ids(const std::string& text) {
    const auto encoding = (*pipeline_->tokenizer())->encode(text, PLUMB_SPECIAL_PARSE);
    EXPECT_TRUE(encoding);
    return encoding ? encoding->ids : std::vector<int32_t>();
  }
  /// The next answers are these ids.
  void will_say(const std::vector<int32_t>& ids) {
    const std::string params = nlohmann::json{{"ids", ids}, {"then", "end"}}.dump();
    will_pick({{"scripted", config::kAuto, params}, {"greedy", config::kAuto, "{}"}});
  }
  void will_say(const std::string& text) { will_say(ids(text)); }
  /// The next answers are what the config says.
  void will_choose() { will_pick(pipeline_->config().sampling.stages); }
  void will_pick(std::vector<config::StageConfig> stages) {
    config::SamplingConfig sampling = pipeline_->config().sampling;
    sampling.stages = std::move(stages);
    const auto set = talk_->set_sampling(sampling);
    EXPECT_TRUE(set) << (set ? "" : set.error().message);
  }
  OrderedJson messages() {
    auto messages = talk_->messages();
    EXPECT_TRUE(messages);
    return messages ? *messages : OrderedJson();
  }
  conversation::Conversation::Usage usage() { return *talk_->usage(); }

 private:
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<Conversation> talk_;
};

}  // namespace plumbline::test
