// Causes at door 10. Oracle: the mutant that was made, whose name is the cause. Signatures were
// written with the vocabularies of kDesign at hand; those of kHeldOut only judge them.
#include "tests/support/mutants.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

using diff::Cause;

constexpr const char* kDesign[] = {"gpt2", "llama2", "modern-bpe", "bert", "t5"};
constexpr const char* kHeldOut[] = {"roberta",    "clip",       "splits", "unigram-bytes",
                                    "word-level", "bert-cased", "added"};

// None of them is a probe.
constexpr const char* kPrompts[] = {
    "The year 1984 had 12345 days?",
    "  Ein Caf\u00e9 in M\u00fcnchen,\r\nseit 1899.\r\n",
    "WE'LL see  you,\tI'm sure \u201ctomorrow\u201d",
    "Cafe\u0301 \ufb02ow \u2461 \uff24\uff25",
    "x \U0001f98a \u732b \u72ac y",
};

std::vector<pipeline::Prompt> prompts_of(const Vocabulary& vocabulary) {
  std::vector<pipeline::Prompt> prompts;
  for (const char* text : kPrompts) prompts.push_back({.bytes = text});
  for (const auto& token : vocabulary.tokenizer["added_tokens"]) {
    const std::string literal = token["content"];
    prompts.push_back({.bytes = "Say " + literal + " twice: " + literal});
  }
  return prompts;
}

Vocabulary base(const std::string& name) {
  Vocabulary made = made_vocabulary(name);
  const std::map<std::string, std::pair<const char*, bool>> kBos = {
      {"gpt2", {"<|endoftext|>", true}},
      {"modern-bpe", {"<|endoftext|>", false}},
      {"clip", {"<|startoftext|>", true}},
      {"unigram-bytes", {"<pad>", false}},
      {"added", {"[M]", true}}};
  if (const auto found = kBos.find(name); found != kBos.end()) {
    made.config["bos_token"] = found->second.first;
    made.config["add_bos_token"] = found->second.second;
  }
  return made;
}

// The first prompt on which the sides part; nothing if they never do.
std::optional<pipeline::Prompt> parting(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                        const std::vector<pipeline::Prompt>& prompts) {
  for (const pipeline::Prompt& prompt : prompts) {
    const auto ids_a = a.encode_prompt(prompt);
    const auto ids_b = b.encode_prompt(prompt);
    if (ids_a && ids_b && ids_a->ids != ids_b->ids) return prompt;
  }
  return std::nullopt;
}

Score diagnose_mutants(std::span<const char* const> names) {
  Score score;
  for (const char* name : names) {
    const Vocabulary whole = base(name);
    TextPipeline a(whole, "");
    for (const TokenizerMutant& mutant : encoding_mutants()) {
      Vocabulary broken = whole;
      if (!mutant.apply(broken.tokenizer, broken.config)) continue;
      TextPipeline b(broken, "");
      const auto prompt = parting(*a, *b, prompts_of(whole));
      if (!prompt) continue;  // nothing that it breaks is in the vocabulary
      const auto evidence = diff::token_evidence(*a, *b, *prompt);
      EXPECT_TRUE(evidence) << evidence.error().message;
      score.count(std::string(name) + ", " + mutant.how, mutant.cause, diagnose_tokens(*evidence));
    }
  }
  return score;
}

TEST(TokenCauses, AreNamedWhereTheyWereWritten) {
  const Score score = diagnose_mutants(kDesign);
  EXPECT_EQ(score.n_wrong, 0) << score;
  EXPECT_GE(score.n_right, 55) << score;
}

TEST(TokenCauses, AreNamedOnVocabulariesThatWereHeldOut) {
  const Score score = diagnose_mutants(kHeldOut);
  EXPECT_EQ(score.n_wrong, 0) << score;
  EXPECT_GE(score.n_right, 60) << score;
}

}  // namespace
}  // namespace plumbline::test
