// The host's side of a tokenizer. Oracle: plumb/ext/tokenizer.h and plumb/ext/sampler.h.
#include <gmock/gmock.h>

#include "core/pipeline/tokenizer.h"
#include "plumb/sdk/abi.h"
#include "tests/support/made_tokenizer.h"

namespace plumbline::pipeline {
namespace {

constexpr uint32_t kVocab = 70;
int instance = 0;

// A tokenizer of 70 ids, of which 1 and 65 are control tokens and 66 an end
// that the file calls text; every byte becomes three ids.
plumb_tokenizer three_ids_a_byte() {
  auto table = make_abi<plumb_tokenizer>();
  table.recognise = [](const plumb_metadata*, plumb_error*) -> plumb_status { return PLUMB_OK; };
  table.create = [](const plumb_host*, const plumb_metadata*, plumb_str, void** self,
                    plumb_error*) -> plumb_status {
    *self = &instance;
    return PLUMB_OK;
  };
  table.destroy = [](void*) {};
  table.info = [](void*, plumb_tokenizer_info* info, plumb_error*) -> plumb_status {
    info->n_vocab = kVocab;
    return PLUMB_OK;
  };
  table.attributes = [](void*, int32_t id) -> uint32_t {
    if (id == 66) return PLUMB_TOKEN_END | PLUMB_TOKEN_USER_DEFINED;
    return id == 1 || id == 65 ? PLUMB_TOKEN_CONTROL : 0;
  };
  table.encode = [](void*, const plumb_encode_request* request, plumb_encode_result* result,
                    plumb_error*) -> plumb_status {
    result->n = 3 * request->text.bytes;
    if (result->n > result->capacity) return PLUMB_MORE_SPACE;
    for (uint64_t i = 0; i < result->n; ++i) {
      result->ids[i] = 2;
      result->spans[i] = {i / 3, i / 3 + 1};
    }
    return PLUMB_OK;
  };
  table.piece = [](void*, int32_t, uint32_t, plumb_bytes*, plumb_error*) -> plumb_status {
    return PLUMB_OK;
  };
  return table;
}

class HostTokenizer : public testing::Test {
 protected:
  plumb_tokenizer table_ = three_ids_a_byte();
  plumb_metadata metadata_ = make_abi<plumb_metadata>();
  Result<Tokenizer> tokenizer_ = Tokenizer::create("test", table_, nullptr, metadata_, "{}");
};

TEST_F(HostTokenizer, ATextMayHaveThreeIdsAByte) {
  const auto encoding = tokenizer_->encode(std::string(100, '\xff'), PLUMB_SPECIAL_OFF);
  ASSERT_TRUE(encoding) << encoding.error().message;
  EXPECT_EQ(encoding->ids.size(), 300u);
  EXPECT_EQ(encoding->spans.back().end, 100u);
}

// Oracle: NFKC makes 18 characters, 33 bytes, of U+FDFA (UnicodeData.txt).
TEST(MadeTokenizer, ATextMayGrowBeyondThreeIdsAByte) {
  nlohmann::json file = test::made_tokenizer(nlohmann::json::array());
  file["normalizer"] = {{"type", "NFKC"}};
  const test::MadePipeline made(file, "");
  const auto encoding = (*made->tokenizer())->encode("\uFDFA", PLUMB_SPECIAL_PARSE);
  ASSERT_TRUE(encoding) << encoding.error().message;
  EXPECT_EQ(encoding->ids.size(), 33u);
}

TEST_F(HostTokenizer, SaysHowManyIdsATextWouldHave) {
  table_.encode = [](void*, const plumb_encode_request*, plumb_encode_result* result,
                     plumb_error*) -> plumb_status {
    result->n = 20'000'000;
    return PLUMB_MORE_SPACE;
  };
  const auto too_many = tokenizer_->encode("abc", PLUMB_SPECIAL_OFF);
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().message,
            "test: a text of 3 bytes becomes 20000000 ids, at most 16777216 expected");
  table_.encode = [](void*, const plumb_encode_request*, plumb_encode_result* result,
                     plumb_error*) -> plumb_status {
    result->n = result->capacity + 1;  // never content
    return PLUMB_MORE_SPACE;
  };
  const auto greedy = tokenizer_->encode("abc", PLUMB_SPECIAL_OFF);
  ASSERT_FALSE(greedy);
  EXPECT_EQ(greedy.error().message, "test: wrote 19 ids where there was room for 18");
}

TEST_F(HostTokenizer, ABatchKeepsTheOrderOfItsTexts) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < 500; ++i) texts.emplace_back(i % 37, 'x');
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (const uint32_t n_threads : {1u, 3u}) {
    ThreadPool pool(n_threads);
    const auto batch = tokenizer_->encode_batch(views, PLUMB_SPECIAL_OFF, pool);
    ASSERT_TRUE(batch) << batch.error().message;
    ASSERT_EQ(batch->size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ((*batch)[i].ids.size(), 3 * texts[i].size());
    EXPECT_TRUE(tokenizer_->encode_batch({}, PLUMB_SPECIAL_OFF, pool)->empty());
  }
}

TEST_F(HostTokenizer, ABatchFailsWithItsFirstError) {
  table_.encode = [](void*, const plumb_encode_request* request, plumb_encode_result* result,
                     plumb_error* error) -> plumb_status {
    result->n = 0;
    return request->text.bytes < 3
               ? PLUMB_OK
               : failf(error, PLUMB_CORRUPT, "%d bytes", static_cast<int>(request->text.bytes));
  };
  ThreadPool pool(3);
  const std::vector<std::string_view> texts = {"a", "bb", "ccc", "dddd", "eeeee"};
  const auto batch = tokenizer_->encode_batch(texts, PLUMB_SPECIAL_OFF, pool);
  ASSERT_FALSE(batch);
  EXPECT_EQ(batch.error().code, PLUMB_CORRUPT);
  EXPECT_EQ(batch.error().message, "text 2: test: 3 bytes");
}

TEST_F(HostTokenizer, ControlBitsHaveTheSizeOfTheModelsVocabulary) {
  EXPECT_THAT(tokenizer_->control_bits(kVocab), testing::ElementsAre(2, 6));
  EXPECT_THAT(tokenizer_->control_bits(200),
              testing::ElementsAre(2, 6, 0, 0));  // more rows than tokens
  EXPECT_THAT(tokenizer_->control_bits(64), testing::ElementsAre(2));
}

TEST_F(HostTokenizer, FindsTheIdsWithATextInside) {
  table_.piece = [](void*, int32_t id, uint32_t, plumb_bytes* bytes,
                    plumb_error* error) -> plumb_status {
    static const std::string_view pieces[] = {"a", "b:", ":", "", "c\n", "\n\n", "x*y"};
    if (id >= 7) return fail(error, PLUMB_NOT_FOUND, "an id that stands for nothing");
    const std::string_view piece = pieces[id];
    *bytes = {reinterpret_cast<const uint8_t*>(piece.data()), piece.size()};
    return PLUMB_OK;
  };
  const auto ids = [&](std::vector<std::string> texts, uint32_t n_ids) {
    return tokenizer_->ids_with(texts, n_ids);
  };
  EXPECT_THAT(ids({":", "\n"}, kVocab), testing::ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(ids({":", "\n"}, 3), testing::ElementsAre(1, 2));
  EXPECT_THAT(ids({"\n\n"}, 1000), testing::ElementsAre(5));
  EXPECT_THAT(ids({}, kVocab), testing::ElementsAre());
}

}  // namespace
}  // namespace plumbline::pipeline
