// Causes at door 10 with the vocabularies of public models, on which no signature was written.
// Oracle: the mutant that was made. PLUMB_LONG_TESTS tries some mutants on each vocabulary, else on
// the smallest alone: a diagnosis makes the vocabulary anew some fifty times.
#include <cstdlib>

#include "tests/support/mutants.h"
#include "tests/support/pulled_model.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

constexpr const char* kNames[] = {"qwen3",  "llama3_1", "gemma3",     "gpt4o",
                                  "gptoss", "llama2",   "deepseek_v3"};
constexpr size_t kEach = 3;

constexpr const char* kPrompts[] = {
    "The year 1984 had 12345 days?", "  Ein Caf\u00e9 in M\u00fcnchen,\r\nseit  1899.\r\n",
    "WE'LL see cafe\u0301s, \ufb02ow \u2461", "x \U0001f98a \u732b \u72ac y"};

std::optional<pipeline::Prompt> parting(pipeline::Pipeline& a, pipeline::Pipeline& b) {
  for (const char* text : kPrompts) {
    const pipeline::Prompt prompt{.bytes = text};
    const auto ids_a = a.encode_prompt(prompt);
    const auto ids_b = b.encode_prompt(prompt);
    if (ids_a && ids_b && ids_a->ids != ids_b->ids) return prompt;
  }
  return std::nullopt;
}

TEST(TokenCauses, AreNamedWithVocabulariesOfPublicModels) {
  const bool is_long = std::getenv("PLUMB_LONG_TESTS") != nullptr;
  Score score;
  size_t first = 0;  // the mutants take turns
  for (const char* name : kNames) {
    if (!is_long && std::string_view(name) != "llama2") continue;
    const std::string path = pulled_model("tokenizer-" + std::string(name));
    if (path.empty()) continue;
    Vocabulary whole;
    whole.tokenizer = nlohmann::json::parse(text_of_file(path));
    TextPipeline a(whole, "");
    size_t n_tried = 0;
    const auto& mutants = encoding_mutants();
    for (size_t i = 0; i < mutants.size() && n_tried < kEach; ++i) {
      const TokenizerMutant& mutant = mutants[(first + i) % mutants.size()];
      Vocabulary broken = whole;
      if (!mutant.apply(broken.tokenizer, broken.config)) continue;
      TextPipeline b(broken, "");
      const auto prompt = parting(*a, *b);
      if (!prompt) continue;
      const auto evidence = diff::token_evidence(*a, *b, *prompt);
      ASSERT_TRUE(evidence) << evidence.error().message;
      score.count(std::string(name) + ", " + mutant.how, mutant.cause, diagnose_tokens(*evidence));
      ++n_tried;
    }
    first += 5;
  }
  if (score.n_right + score.n_unknown + score.n_wrong == 0)
    GTEST_SKIP() << "needs `plumb model pull tokenizer-qwen3` and its like";
  EXPECT_EQ(score.n_wrong, 0) << score;
  EXPECT_GE(score.n_right, 2) << score;
  RecordProperty("score", std::to_string(score.n_right) + " right, " +
                              std::to_string(score.n_unknown) + " unknown");
}

}  // namespace
}  // namespace plumbline::test
