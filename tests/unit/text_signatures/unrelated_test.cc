// Differences that are none of the known causes: nothing may be named. Oracle: how they were made.
#include <numeric>

#include "tests/support/attacked_prompts.h"
#include "tests/support/made_tokenizer.h"
#include "tests/support/mutants.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

using diff::Cause;
using pipeline::Encoding;
using pipeline::Prompt;

constexpr const char* kNames[] = {"gpt2",       "llama2",  "modern-bpe",   "bert",
                                  "t5",         "roberta", "clip",         "splits",
                                  "word-level", "added",   "unigram-bytes"};

const Prompt kPrompt{.bytes = "In 1984, WE'LL see  caf\u00e9s:\r\n\u201cwhy?\u201d \U0001f98a"};

// What was named wrongly, of how many.
struct Named {
  int n_tried = 0;
  std::string names;

  void count(const std::string& what, const std::optional<Cause>& cause) {
    ++n_tried;
    if (cause) names += "\n  " + what + ": " + cause->signature + ": " + cause->statement;
  }
};

const TokenizerMutant& mutant_of(const char* how) {
  const auto found = std::ranges::find_if(encoding_mutants(), [&](const TokenizerMutant& one) {
    return std::string_view(one.how) == how;
  });
  EXPECT_NE(found, encoding_mutants().end()) << how;
  return *found;
}

// Nothing where the two agree.
void count_tokens(Named& named, const std::string& what, TextPipeline& a, TextPipeline& b,
                  const diff::TokenSide& changed = {}) {
  auto evidence = diff::token_evidence(*a, *b, kPrompt);
  ASSERT_TRUE(evidence) << evidence.error().message;
  if (changed) evidence->b = changed;
  const auto ids_a = evidence->a(kPrompt);
  const auto ids_b = evidence->b(kPrompt);
  if (ids_a && ids_b && ids_a->ids == ids_b->ids) return;
  named.count(what, diagnose_tokens(*evidence));
}

TEST(UnrelatedDifferences, OfVocabulariesAreNotNamed) {
  Named named;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const char* other = kNames[(i + 1) % std::size(kNames)];
    TextPipeline a(made_vocabulary(kNames[i]), "");
    TextPipeline b(made_vocabulary(other), "");
    count_tokens(named, std::string(kNames[i]) + " and " + other, a, b);
  }
  EXPECT_EQ(named.names, "");
  EXPECT_GE(named.n_tried, 10);
}

TEST(UnrelatedDifferences, OfSingleIdsAreNotNamed) {
  Named named;
  for (const char* name : kNames) {
    TextPipeline a(made_vocabulary(name), "");
    TextPipeline b(made_vocabulary(name), "");
    const auto side = [&](const std::function<void(std::vector<int32_t>&)>& change) {
      return [&a, change](const Prompt& prompt) -> Result<Encoding> {
        PLUMB_ASSIGN(Encoding encoding, a->encode_prompt(prompt));
        if (!encoding.ids.empty()) change(encoding.ids);
        return encoding;
      };
    };
    const std::string what = name;
    count_tokens(named, what + ", one id is another", a, b,
                 side([](auto& ids) { ids[ids.size() / 2] ^= 5; }));
    count_tokens(named, what + ", one id is left out", a, b, side([](auto& ids) {
                   ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2));
                 }));
    count_tokens(named, what + ", two ids have changed places", a, b,
                 side([](auto& ids) { std::swap(ids.front(), ids.back()); }));
    count_tokens(named, what + ", all ids backwards", a, b,
                 side([](auto& ids) { std::ranges::reverse(ids); }));
  }
  EXPECT_EQ(named.names, "");
  EXPECT_GE(named.n_tried, 30);
}

// Each has a cause, together they have none of the known ones.
TEST(UnrelatedDifferences, OfTwoMutantsAtOnceAreNotNamed) {
  constexpr std::pair<const char*, const char*> kPairs[] = {
      {"lower case too", "digits first"},
      {"question marks", "a quarter"},
      {"CRLF read as LF", "one token more in front"},
      {"accents stripped", "Qwen 2's pattern"},
      {"\\s+", "one token more in front"},
      {"no post-processor", "question marks"}};
  Named named;
  for (const char* name : kNames) {
    const Vocabulary whole = made_vocabulary(name);
    TextPipeline a(whole, "");
    for (const auto& [one, other] : kPairs) {
      Vocabulary first = whole;
      Vocabulary both = whole;
      Vocabulary second = whole;
      const auto break_it = [&](Vocabulary& vocabulary, const char* how) {
        return mutant_of(how).apply(vocabulary.tokenizer, vocabulary.config);
      };
      if (!break_it(first, one) || !break_it(second, other) || !break_it(both, one) ||
          !break_it(both, other))
        continue;
      TextPipeline b(both, "");
      // Only where both are felt on this prompt.
      TextPipeline alone_one(first, "");
      TextPipeline alone_other(second, "");
      const auto ids = [](TextPipeline& side) {
        const auto encoding = side->encode_prompt(kPrompt);
        return encoding ? encoding->ids : std::vector<int32_t>();
      };
      if (ids(b) == ids(alone_one) || ids(b) == ids(alone_other) || ids(b).empty()) continue;
      count_tokens(named, std::string(name) + ", " + one + " and " + other, a, b);
    }
  }
  EXPECT_EQ(named.names, "");
  EXPECT_GE(named.n_tried, 15);
}

TEST(UnrelatedDifferences, OfTemplatesAreNotNamed) {
  Named named;
  Vocabulary vocabulary;
  vocabulary.tokenizer = made_tokenizer(nlohmann::json::array());
  const diff::Conversation conversation{
      OrderedJson::parse(
          R"([{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"},
                             {"role": "user", "content": "Three"}])"),
      {.now_unix_s = 1764458400}};
  const std::vector<std::string> paths = public_templates();
  for (size_t i = 0; i + 1 < paths.size(); i += 2) {
    TextPipeline a(vocabulary, text_of_file(paths[i]));
    TextPipeline b(vocabulary, text_of_file(paths[i + 1]));
    const std::string what =
        std::filesystem::path(paths[i]).stem().string() + " and the next template";
    const auto evidence = diff::template_evidence(*a, *b, conversation);
    ASSERT_TRUE(evidence) << evidence.error().message;
    const auto bytes_a = evidence->a(conversation);
    const auto bytes_b = evidence->b(conversation);
    if (!bytes_a || !bytes_b || *bytes_a == *bytes_b) continue;
    named.count(what, diagnose_template(*evidence));
    // One byte of A's prompts is another.
    auto changed = *evidence;
    changed.b = [&a](const diff::Conversation& input) -> Result<std::string> {
      PLUMB_ASSIGN(Prompt prompt, a->render(input.messages, input.request));
      prompt.bytes[prompt.bytes.size() * 2 / 3] ^= 1;
      return prompt.bytes;
    };
    named.count(what + ", a byte", diagnose_template(changed));
  }
  EXPECT_EQ(named.names, "");
  EXPECT_GE(named.n_tried, 40);
}

TEST(UnrelatedDifferences, OfPicksAndTextsAreNotNamed) {
  Named named;
  const Vocabulary vocabulary = made_vocabulary("llama2");
  const auto with = [](config::PipelineConfig& config) {
    config.sampling.seed = 3;
    config.sampling.stages = {{"min_p", config::kAuto, R"({"p": 0.05})"},
                              {"temperature", config::kAuto, R"({"t": 0.7})"},
                              {"cdf", config::kAuto, "{}"}};
  };
  TextPipeline a(vocabulary, "", with);
  diff::Draw draw;
  draw.logits.resize(64);
  std::iota(draw.logits.begin(), draw.logits.end(), 0.0F);
  auto evidence = diff::sampler_evidence(a->config().sampling, a->config().sampling,
                                         a->config().sampling, host(), {}, draw);
  const diff::SamplerSide whole = evidence.a;
  for (const int32_t shift : {1, 2, 3, 7, 11}) {
    evidence.b = [whole, shift](const diff::Draw& input) -> Result<diff::Drawn> {
      PLUMB_ASSIGN(diff::Drawn drawn, whole(input));
      drawn.id = (drawn.id + shift) % static_cast<int32_t>(input.logits.size());
      return drawn;
    };
    named.count("the pick plus " + std::to_string(shift), diagnose_sampler(evidence));
  }
  const auto encoded = (*a->tokenizer())->encode("The cat sat there", PLUMB_SPECIAL_PARSE);
  ASSERT_TRUE(encoded);
  auto texts = diff::detokenisation_evidence(*a, *a, encoded->ids);
  ASSERT_TRUE(texts);
  const diff::TextSide shown = texts->a;
  for (const char letter : {'x', 'y', ' ', '\n', '.'}) {
    texts->b = [shown, letter](const diff::Ids& ids) -> Result<diff::ShownText> {
      PLUMB_ASSIGN(diff::ShownText changed, shown(ids));
      changed.text.insert(changed.text.size() / 2, 1, letter);
      return changed;
    };
    named.count(std::string("a letter in the midst: ") + letter, diagnose_text(*texts));
  }
  EXPECT_EQ(named.names, "");
  EXPECT_EQ(named.n_tried, 10);
}

TEST(NoDifference, IsNotExplained) {
  TextPipeline a(made_vocabulary("gpt2"), "");
  TextPipeline b(made_vocabulary("gpt2"), "");
  const auto evidence = diff::token_evidence(*a, *b, kPrompt);
  ASSERT_TRUE(evidence);
  EXPECT_FALSE(diagnose_tokens(*evidence));
}

}  // namespace
}  // namespace plumbline::test
