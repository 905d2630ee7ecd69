// tokenizer.json files that were made to do harm. What is expected follows from the file by hand.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/tokenizers/from_json.h"

namespace plumbline::tokenizers::hf {
namespace {

using nlohmann::json;
using testing::ElementsAre;

json tiny() {
  return json::parse(R"({
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})");
}

/// All tokens together are short enough for a string's own buffer, which moves with the string.
TEST(HostileJson, WholeWordsOfATinyVocabulary) {
  json file = tiny();
  file["model"]["ignore_merges"] = true;
  file["model"]["merges"] = json::array();
  const FromJson tokenizer(file.dump());
  ASSERT_EQ(tokenizer->status(), PLUMB_OK) << tokenizer->message();
  EXPECT_THAT(tokenizer->ids("ab"), ElementsAre(2));
  EXPECT_THAT(tokenizer->ids("b"), ElementsAre(1));
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
