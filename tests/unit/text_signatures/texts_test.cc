// Causes at doors 50 and 60. Oracle: the mutant that was made, whose name is the cause. Signatures
// were written with the vocabularies of kDesign at hand; those of kHeldOut only judge them.
#include "core/diff/text_doors.h"
#include "tests/support/mutants.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

constexpr const char* kDesign[] = {"gpt2", "llama2", "bert", "t5", "modern-bpe"};
constexpr const char* kHeldOut[] = {"roberta", "clip", "unigram-bytes", "bert-cased", "added"};

// Answers that a model could give: texts, with literals between, and broken runs of byte tokens.
std::vector<diff::Ids> answers(pipeline::Pipeline& side, const Vocabulary& vocabulary) {
  const pipeline::Tokenizer* const tokenizer = *side.tokenizer();
  std::vector<diff::Ids> all;
  const auto add = [&](const std::string& text) {
    if (const auto encoding = tokenizer->encode(text, PLUMB_SPECIAL_PARSE))
      all.push_back(encoding->ids);
  };
  for (const char* text : {"The cat sat. It 's here , is n't it ?", " \U0001f98a \u732b", "x\ny"})
    add(text);
  for (const auto& token : vocabulary.tokenizer["added_tokens"])
    add("cat " + token["content"].get<std::string>() + " dog");
  diff::Ids bytes;
  for (uint32_t id = 0; id < tokenizer->info().n_vocab; ++id) {
    if ((tokenizer->attributes(static_cast<int32_t>(id)) & PLUMB_TOKEN_BYTE) != 0)
      bytes.push_back(static_cast<int32_t>(id));
  }
  if (bytes.size() == 256) all.push_back({bytes[0xf0], bytes[0x9f], bytes[0x41]});
  return all;
}

std::optional<diff::Ids> parting(pipeline::Pipeline& a, pipeline::Pipeline& b,
                                 const std::vector<diff::Ids>& all) {
  for (const diff::Ids& ids : all) {
    const auto text_a = diff::show_ids(a, ids);
    const auto text_b = diff::show_ids(b, ids);
    if (text_a && text_b && text_a->text != text_b->text) return ids;
  }
  return std::nullopt;
}

void count(Score& score, const std::string& what, const char* cause, TextPipeline& a,
           TextPipeline& b, const Vocabulary& vocabulary) {
  const auto ids = parting(*a, *b, answers(*a, vocabulary));
  if (!ids) return;
  const auto evidence = diff::detokenisation_evidence(*a, *b, *ids);
  ASSERT_TRUE(evidence) << evidence.error().message;
  score.count(what, cause, diagnose_text(*evidence));
}

Score diagnose_mutants(std::span<const char* const> names) {
  using config::PipelineConfig;
  const std::pair<const char*, TextPipeline::Configure> kConfigured[] = {
      {"replacement_run",
       [](PipelineConfig& config) { config.tokenizer.ill_formed = config::IllFormed::kSeed004; }},
      {"replacement_run",
       [](PipelineConfig& config) {
         config.tokenizer.ill_formed = config::IllFormed::kMaximalSubpart;
       }},
      {"stop_text_kept", [](PipelineConfig& config) { config.generation.stop.clear(); }},
  };
  Score score;
  for (const char* name : names) {
    const Vocabulary whole = made_vocabulary(name);
    TextPipeline a(whole, "");
    for (const TokenizerMutant& mutant : decoding_mutants()) {
      Vocabulary broken = whole;
      if (!mutant.apply(broken.tokenizer, broken.config)) continue;
      TextPipeline b(broken, "");
      count(score, std::string(name) + ", " + mutant.how, mutant.cause, a, b, whole);
    }
    const auto stops = [](PipelineConfig& config) { config.generation.stop = {"at"}; };
    TextPipeline stopping(whole, "", stops);
    for (const auto& [cause, configure] : kConfigured) {
      TextPipeline b(whole, "", [&](PipelineConfig& config) {
        stops(config);
        configure(config);
      });
      count(score, name, cause, stopping, b, whole);
    }
  }
  return score;
}

TEST(TextCauses, AreNamedWhereTheyWereWritten) {
  const Score score = diagnose_mutants(kDesign);
  EXPECT_EQ(score.n_wrong + score.n_unknown, 0) << score;
  EXPECT_GE(score.n_right, 15) << score;
}

TEST(TextCauses, AreNamedOnVocabulariesThatWereHeldOut) {
  const Score score = diagnose_mutants(kHeldOut);
  EXPECT_EQ(score.n_wrong, 0) << score;
  EXPECT_GE(score.n_right, 10) << score;
}

}  // namespace
}  // namespace plumbline::test
