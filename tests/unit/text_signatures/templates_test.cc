// Causes at door 00. Oracle: the mutant that was made, whose name is the cause. Signatures were
// written with the templates of kDesign at hand; all other public ones only judge them.
#include <fstream>
#include <set>

#include "tests/support/attacked_prompts.h"
#include "tests/support/made_tokenizer.h"
#include "tests/support/mutants.h"
#include "tests/unit/text_signatures/text_pipelines.h"

namespace plumbline::test {
namespace {

using diff::Conversation;

constexpr int64_t kNow = 1764458400;  // of golden/templates/public

const std::set<std::string>& design() {
  static const std::set<std::string> kNames = {"chatml",     "qwen2.5",   "llama3.2",
                                               "mistral-v1", "gemma2",    "qwen3",
                                               "phi-4",      "falcon-h1", "hermes-2-pro"};
  return kNames;
}

std::vector<Conversation> read_conversations() {
  std::ifstream in(golden_path("templates/public/conversations.jsonl"));
  std::vector<Conversation> all;
  for (std::string line; std::getline(in, line);) {
    const OrderedJson one = OrderedJson::parse(line);
    if (!one["continue"].get<bool>()) all.push_back({one["context"], {.now_unix_s = kNow}});
  }
  return all;
}

const std::vector<Conversation>& conversations() {
  static const std::vector<Conversation> kAll = read_conversations();
  return kAll;
}

/// What a pipeline makes of each; nothing where it refuses.
std::vector<std::optional<std::string>> renderings(pipeline::Pipeline& of) {
  std::vector<std::optional<std::string>> all;
  for (const Conversation& one : conversations()) {
    auto rendered = of.render(one.messages, one.request);
    all.emplace_back();
    if (rendered) all.back() = std::move(rendered->bytes);
  }
  return all;
}

std::optional<Conversation> parting(const std::vector<std::optional<std::string>>& of_a,
                                    pipeline::Pipeline& b) {
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (!of_a[i]) continue;
    const Conversation& one = conversations()[i];
    const auto of_b = b.render(one.messages, one.request);
    if (of_b && of_b->bytes != *of_a[i]) return one;
  }
  return std::nullopt;
}

Score diagnose_mutants(bool is_design) {
  Score score;
  Vocabulary vocabulary;
  vocabulary.tokenizer = made_tokenizer(nlohmann::json::array());
  for (const std::string& path : public_templates()) {
    const std::string name = std::filesystem::path(path).stem().string();
    if (design().contains(name) != is_design) continue;
    const std::string source = text_of_file(path);
    TextPipeline a(vocabulary, source);
    const auto of_a = renderings(*a);
    for (const TemplateMutant& mutant : template_mutants()) {
      const auto broken = mutant.apply(source);
      if (!broken) continue;
      TextPipeline b(vocabulary, *broken);
      if (!b->chat_template()) continue;  // broken too much
      const auto conversation = parting(of_a, *b);
      if (!conversation) continue;  // what it breaks is never rendered
      const auto evidence = diff::template_evidence(*a, *b, *conversation);
      EXPECT_TRUE(evidence) << evidence.error().message;
      score.count(name + ", " + mutant.how, mutant.cause, diagnose_template(*evidence));
    }
  }
  return score;
}

TEST(TemplateCauses, AreNamedWhereTheyWereWritten) {
  const Score score = diagnose_mutants(true);
  EXPECT_EQ(score.n_wrong, 0) << score;
  EXPECT_EQ(score.n_unknown, 0) << score;
  EXPECT_GE(score.n_right, 70) << score;
}

TEST(TemplateCauses, AreNamedOnTemplatesThatWereHeldOut) {
  const Score score = diagnose_mutants(false);
  EXPECT_EQ(score.n_wrong, 0) << score;
  EXPECT_GE(score.n_right, 400) << score;
}

}  // namespace
}  // namespace plumbline::test
