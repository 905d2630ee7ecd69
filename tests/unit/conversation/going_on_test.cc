// Going on with an answer: what it had is kept, and chance begins anew. Scripted picks say what the
// model answers; the oracle is what they say, and core/doc/conversation.md.
#include <set>

#include "core/conversation/seeds.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

using pipeline::StopReason;
using testing::HasSubstr;

TEST(GoingOn, AppendsToTheLastAnswerWithASeedOfItsOwn) {
  TinyTalk talk({"sampling.seed=9"});
  talk.will_say("The old");
  const auto first = talk->ask("Where?", {});
  PLUMB_ASSERT_OK(first);
  EXPECT_EQ(first->seed, 9u);
  talk.will_say(" house.<|im_end|>");
  const auto second = talk->go_on({});
  PLUMB_ASSERT_OK(second);
  EXPECT_EQ(second->text, " house.");
  EXPECT_EQ(second->message, message("assistant", "The old house."));
  // All but the last id of the prompt, which is to be run for its logits.
  EXPECT_EQ(second->n_reused_rows, second->prompt_ids.size() - 1);
  EXPECT_EQ(talk.messages(),
            OrderedJson({message("user", "Where?"), message("assistant", "The old house.")}));
  const auto retried = talk->retry({});
  PLUMB_ASSERT_OK(retried);
  EXPECT_EQ(retried->message, second->message);
  EXPECT_EQ((std::set{first->seed, second->seed, retried->seed}).size(), 3u);
}

TEST(GoingOn, NeedsAnAnswer) {
  TinyTalk talk;
  const auto nothing = talk->go_on({});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, PLUMB_INVALID_ARGUMENT);
  PLUMB_ASSERT_OK(talk->set_messages({message("user", "Where?")}));
  const auto question = talk->go_on({});
  ASSERT_FALSE(question);
  EXPECT_THAT(question.error().message, HasSubstr("no answer"));
  const OrderedJson silent = {{"role", "assistant"}, {"content", nullptr}};
  PLUMB_ASSERT_OK(talk->set_messages({message("user", "Where?"), silent}));
  EXPECT_FALSE(talk->go_on({}));
  EXPECT_EQ(talk.messages().size(), 2u);
}

constexpr const char* kParts =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

TEST(GoingOn, AppendsToTheLastTextOfParts) {
  TemporaryFolder folder;
  TinyTalk talk({"template.path=" + folder.write("t.jinja", kParts)});
  const auto parts = [](const char* last) {
    return OrderedJson{
        {"role", "assistant"},
        {"content", {{{"type", "text"}, {"text", "The "}}, {{"type", "text"}, {"text", last}}}}};
  };
  talk.will_say(" house.<|im_end|>");
  const auto answer =
      talk->ask(std::vector<OrderedJson>{message("user", "Where?"), parts("old")}, {});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->text, " house.");
  EXPECT_EQ(answer->message, parts("old house."));
}

TEST(GoingOn, KeepsTheThoughtsThatItHad) {
  TinyTalk talk({"parser.plugin=plumb.parsers.tags"});
  talk.will_say("<think>Who was it?</think>The old");
  PLUMB_ASSERT_OK(talk->ask("Where?", {}));
  talk.will_say("<think> Mara.</think> house.<|im_end|>");
  const auto answer = talk->go_on({});
  PLUMB_ASSERT_OK(answer);
  EXPECT_EQ(answer->thinking, " Mara.");
  EXPECT_EQ(answer->message["reasoning_content"], "Who was it? Mara.");
  EXPECT_EQ(answer->message["content"], "The old house.");
}

// With the counters of a coin for a seed, an answer would be made of what another one threw.
TEST(Seeds, AreMadeOfCountersThatNoCoinHas) {
  for (const auto kind :
       {detail::CoinKind::kCdf, detail::CoinKind::kGumbel, detail::CoinKind::kXtc}) {
    EXPECT_NE(conversation::seed_of_answer(7, 3, 0), detail::coin_bits(7, 3, 0, kind));
    EXPECT_NE(conversation::seed_of_answer(7, 3, 5), detail::coin_bits(7, 3, 5, kind));
  }
  EXPECT_EQ(conversation::seed_of_answer(7, 0, 0), 7u);
}

}  // namespace
}  // namespace plumbline::test
