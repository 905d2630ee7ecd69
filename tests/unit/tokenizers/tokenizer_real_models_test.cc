// The three real vocabularies. Model files: NAME.gguf in PLUMB_MODEL_DIR, or where `plumb model
// pull` puts them. Oracle: tokenizers on the same vocabulary; end tokens: llama.cpp's, but for
// Gemma's </s>, which is text.
#include "tests/support/pulled_model.h"
#include "tests/unit/tokenizers/golden_vocabularies.h"

namespace plumbline::test {
namespace {

struct Real {
  const char* name;
  const char* plugin;
  uint32_t n_vocab;
  uint32_t add_bos;
  std::vector<int32_t> end_ids;
  std::vector<int32_t> capital;  // "The capital of France is", as transformers encodes it
};

class TokenizersOnRealModels : public testing::TestWithParam<Real> {
 protected:
  void SetUp() override {
    path_ = pulled_model(GetParam().name);
    ASSERT_NE(path_, "") << GetParam().name << " is missing: plumb model pull " << GetParam().name;
  }
  std::string path_;
};

TEST_P(TokenizersOnRealModels, GiveTheReferencesIds) {
  expect_golden(GetParam().name, path_, GetParam().plugin);
}

TEST_P(TokenizersOnRealModels, KnowTheirRoles) {
  const ModelVocabulary model(path_);
  const TokenizerInstance& tokenizer = model.tokenizer();
  EXPECT_EQ(tokenizer.info().n_vocab, GetParam().n_vocab);
  EXPECT_EQ(tokenizer.info().add_bos, GetParam().add_bos);
  EXPECT_EQ(tokenizer.ids("The capital of France is"), GetParam().capital);
  std::vector<int32_t> ends;
  for (int32_t id = 0; id < static_cast<int32_t>(GetParam().n_vocab); ++id) {
    if ((tokenizer.attributes(id) & PLUMB_TOKEN_END) != 0) ends.push_back(id);
  }
  EXPECT_EQ(ends, GetParam().end_ids);
}

INSTANTIATE_TEST_SUITE_P(Models, TokenizersOnRealModels,
                         testing::Values(Real{"smollm2-135m",
                                              "plumb.tokenizers.hf",
                                              49152,
                                              0,
                                              {0, 2, 4},
                                              {504, 3575, 282, 4649, 314}},
                                         Real{"qwen2.5-coder-0.5b",
                                              "plumb.tokenizers.hf",
                                              151936,
                                              0,
                                              {151643, 151645, 151662, 151663, 151664},
                                              {785, 6722, 315, 9625, 374}},
                                         Real{"gemma3-270m",
                                              "plumb.tokenizers.spm",
                                              262144,
                                              1,
                                              {1, 106},
                                              {818, 5279, 529, 7001, 563}}),
                         [](const auto& one) {
                           std::string name = one.param.name;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace plumbline::test
