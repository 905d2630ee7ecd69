// The host's side of a tokenizer. Oracle: plumb/ext/tokenizer.h and plumb/ext/sampler.h.
#include <gmock/gmock.h>

#include "core/pipeline/tokenizer.h"
#include "plumb/sdk/abi.h"

namespace plumbline::pipeline {
namespace {

constexpr uint32_t kVocab = 70;
int instance = 0;

// A tokenizer of 70 ids, of which 1 and 65 are control tokens; every byte becomes three ids.
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

TEST_F(HostTokenizer, ControlBitsHaveTheSizeOfTheModelsVocabulary) {
  EXPECT_THAT(tokenizer_->control_bits(kVocab), testing::ElementsAre(2, 2));
  EXPECT_THAT(tokenizer_->control_bits(200),
              testing::ElementsAre(2, 2, 0, 0));  // more rows than tokens
  EXPECT_THAT(tokenizer_->control_bits(64), testing::ElementsAre(2));
}

}  // namespace
}  // namespace plumbline::pipeline
