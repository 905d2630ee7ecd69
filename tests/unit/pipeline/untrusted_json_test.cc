// JSON from outside. Oracle: the grammar of RFC 8259, and the limits that untrusted_json.h names.
#include "core/pipeline/untrusted_json.h"

#include <gmock/gmock.h>

namespace plumbline::pipeline {
namespace {

using testing::HasSubstr;

/// {"k0":0,"k1":1,...}
std::string object_of(size_t n_keys) {
  std::string text = "{";
  for (size_t i = 0; i < n_keys; ++i) {
    const std::string number = std::to_string(i);
    text += (i == 0 ? "\"k" : ",\"k") + number + "\":" + number;
  }
  return text + "}";
}

TEST(UntrustedJson, KeepsTheOrderOfKeys) {
  const auto json = parse_untrusted(R"([{"b": 1, "a": {"d": null, "c": [2.5]}}])");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->dump(), R"([{"b":1,"a":{"d":null,"c":[2.5]}}])");
}

TEST(UntrustedJson, SaysWhereItIsNone) {
  struct Case {
    std::string text;
    const char* why;
  };
  const Case cases[] = {
      {"", "line 1, column 1: expected JSON"},
      {"[1,\n 2 x]", "line 2, column 4: expected JSON"},
      {"[NaN]", "line 1, column 2: expected JSON"},
      {"{\"a\": \"\xFF\"}", "line 1, column 8: expected JSON"},
      {"[1e999]", "a number beyond"},
      {std::string(130, '[') + std::string(130, ']'), "nested deeper than 128 levels"},
      {std::string(1 << 20, '['), "expected JSON"},
      {"[" + object_of(4097) + "]", "more than 4096 keys"},
  };
  for (const Case& one : cases) {
    const auto json = parse_untrusted(one.text);
    ASSERT_FALSE(json) << one.text.substr(0, 40);
    EXPECT_EQ(json.error().code, PLUMB_INVALID_ARGUMENT);
    EXPECT_THAT(json.error().message, HasSubstr(one.why));
  }
}

TEST(UntrustedJson, CountsTheKeysOfEachObjectAlone) {
  const auto json = parse_untrusted("[" + object_of(4096) + ",{\"x\":" + object_of(4096) +
                                    ",\"y\":" + object_of(4096) + "}]");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)[1]["y"].size(), 4096u);
}

}  // namespace
}  // namespace plumbline::pipeline
