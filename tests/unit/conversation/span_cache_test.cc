// Prompts encoded in parts have the ids of the whole. Oracle: grown_prompts.h.
#include "tests/support/made_tokenizer.h"
#include "tests/unit/conversation/grown_prompts.h"
#include "tests/unit/conversation/tiny_talk.h"

namespace plumbline::test {
namespace {

constexpr const char* kTurns =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n";

TEST(SpanCache, PartsHaveTheIdsOfTheWholeUnderEveryPublicTemplate) {
  const auto made = tiny_world({});
  GrownTally tally;
  for (const std::string& path : public_templates()) {
    SCOPED_TRACE(path);
    grow(**made->tokenizer(), path, strangers_texts(3, 60), tally);
  }
  EXPECT_GT(tally.n_prompts, 900u);
  EXPECT_GT(tally.n_reused_bytes, 0u);
}

// Added literals of all kinds beside the template's own: that take white space, that overlap them,
// that are part of them.
TEST(SpanCache, KeepsTheIdsBesideAwkwardLiterals) {
  const nlohmann::json literals[] = {
      {{{"content", "<|im_start|>"}, {"special", true}},
       {{"content", "<|im_end|>"}, {"special", true}}},
      {{{"content", "<|im_start|>"}, {"special", true}, {"rstrip", true}},
       {{"content", "<|im_end|>"}, {"special", true}, {"lstrip", true}}},
      {{{"content", "<|im_start|>"}, {"special", true}},
       {{"content", "<|im_end|>"}, {"special", true}},
       {{"content", "<|im_end|>\n<|im_start|>user"}},
       {{"content", "x<|"}}},
      {{{"content", "<|im_start|>"}},
       {{"content", "<|im_end|>"}},
       {{"content", "\n"}},
       {{"content", "<b>"}}},
      {{{"content", "<|im_start|>"}, {"single_word", true}}, {{"content", "<|im_end|>"}}}};
  for (const nlohmann::json& some : literals) {
    SCOPED_TRACE(some.dump());
    const TemporaryFolder folder;
    const std::string path = folder.write("t.jinja", kTurns);
    const MadePipeline made(made_tokenizer(some), kTurns);
    GrownTally tally;
    auto texts = strangers_texts(0, 20);
    for (const char* text : {"x", "<b>", "a<|im_end|>\n<|im_start|>user\nb", "x<|im_start|>", " "})
      texts.emplace_back(text);
    grow(**made->tokenizer(), path, texts, tally);
    EXPECT_GT(tally.n_prompts, 30u);
  }
}

TEST(SpanCache, EncodesOnlyWhatIsNew) {
  const auto made = tiny_world({});
  conversation::SpanCache cache(**made->tokenizer(), *made->control_bits());
  OrderedJson messages = OrderedJson::array();
  uint64_t n_before = 0;
  for (int turn = 0; turn < 50; ++turn) {
    messages.push_back(message("user", "Turn " + std::to_string(turn)));
    const auto prompt = made->render(messages, {});
    ASSERT_TRUE(prompt);
    ASSERT_TRUE(cache.encode(*prompt));
    if (turn > 1) {
      EXPECT_LT(cache.n_encoded_bytes() - n_before, 80u);
    }
    n_before = cache.n_encoded_bytes();
    messages.push_back(message("assistant", "Answer " + std::to_string(turn)));
  }
}

TEST(SpanCache, ForgetsWhatNoPromptHasAnyMore) {
  const auto made = tiny_world({});
  conversation::SpanCache cache(**made->tokenizer(), *made->control_bits());
  for (int i = 0; i < 500; ++i) {
    const auto prompt =
        made->render(OrderedJson::array({message("user", "Text " + std::to_string(i))}), {});
    ASSERT_TRUE(cache.encode(*prompt));
  }
  // Of the texts those of the last prompts, and the parts that all have in common.
  EXPECT_LE(cache.n_parts(), conversation::SpanCache::kKeptPrompts + 4);
}

}  // namespace
}  // namespace plumbline::test
