// Oracle: the Rust library tokenizers, in the same process, on the same files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "campaign.h"
#include "tests/support/golden_cases.h"
#include "tests/support/pulled_model.h"

namespace plumbline::fuzz {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  const auto bytes = test::read_file(path.string());
  return {bytes.begin(), bytes.end()};
}

Campaign campaign() {
  Campaign out;
  // A long run takes another seed and a hundred times the texts.
  const bool is_long = std::getenv("PLUMB_LONG_TESTS") != nullptr;
  out.n_texts = is_long ? 200000 : 2000;
  out.seed = is_long ? 2 : 1;
  out.corpus = read_text(test::golden_path("texts/study.txt"));
  return out;
}

void expect_parity(const fs::path& tokenizer_json) {
  const fs::path config = fs::path(tokenizer_json).replace_filename("tokenizer_config.json");
  const TokenizerPair pair(read_text(tokenizer_json), fs::exists(config) ? read_text(config) : "");
  const Findings findings = run(pair, campaign());
  for (const auto& difference : findings.differences) ADD_FAILURE() << difference.dump();
  EXPECT_GT(findings.n_texts, 0U);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::vector<std::string> made_tokenizers() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(test::golden_path("made_tokenizers"))) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".json" && name != "provenance") names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

class MadeTokenizer : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Fuzz, MadeTokenizer, testing::ValuesIn(made_tokenizers()), test_name);

TEST_P(MadeTokenizer, EncodesAndDecodesAsTheLibrary) {
  expect_parity(test::golden_path("made_tokenizers/" + GetParam() + ".json"));
}

class PublicTokenizer : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Fuzz, PublicTokenizer,
                         testing::Values("qwen3", "llama3_1", "gemma3", "gpt4o", "gptoss", "llama2",
                                         "deepseek_v3"),
                         test_name);

TEST_P(PublicTokenizer, EncodesAndDecodesAsTheLibrary) {
  const std::string path = test::pulled_model("tokenizer-" + GetParam());
  if (path.empty()) GTEST_SKIP() << "plumb model pull tokenizer-" << GetParam() << " brings it";
  expect_parity(path);
}

}  // namespace
}  // namespace plumbline::fuzz
