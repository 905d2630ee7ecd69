// YAML text -> tree under hostile input. Oracle: the limits in core/config/yaml.h; for broken text,
// that it is answered at all.
#include "core/config/yaml.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/unit/config/config_files.h"

namespace plumbline::config {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  const auto value = parse_yaml(text, "t");
  return value ? std::string("accepted") : value.error().message;
}

TEST(Config_Yaml, KnowsWhereEachNodeStands) {
  const auto tree = parse_yaml("a: 1\nb:\n  - x\n  - {c: \"2\"}\n", "t");
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(tree->at("a")->origin.text(), "t:1:4");
  const Value& list = *tree->at("b");
  EXPECT_EQ(list.items[0].origin.text(), "t:3:5");
  EXPECT_EQ(list.items[1].find("c")->origin.text(), "t:4:9");
  EXPECT_TRUE(list.items[1].find("c")->is_quoted);
  EXPECT_FALSE(tree->at("a")->is_quoted);
}

TEST(Config_Yaml, AliasStandsForWhatItNames) {
  const auto tree = parse_yaml("a: &x {k: [1, 2]}\nb: *x\n", "t");
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(tree->at("b.k")->items.size(), 2u);
}

TEST(Config_Yaml, SizeAndCountAreBounded) {
  EXPECT_THAT(refusal(std::string(kFileBytesMax + 1, '#')), HasSubstr("expected at most 1048576"));
  std::string many = "[";
  for (size_t i = 0; i <= kNodesMax; ++i) many += "x, ";
  EXPECT_THAT(refusal(many + "x]"), HasSubstr("more than 65536 values"));
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "- ";
  EXPECT_THAT(refusal(nested), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(refusal(std::string("a: \0b", 5)), HasSubstr("t:1:4: a zero byte"));
}

TEST(Config_Yaml, IllFormedUtf8IsRefusedAtItsByte) {
  // Source of the cases: The Unicode Standard, table 3-7.
  for (const std::string bad : {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                                "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xff"}) {
    EXPECT_EQ(refusal("a\nb" + bad), "t:2:2: a byte that is not UTF-8");
  }
  EXPECT_EQ(refusal("\xc2\x80 \xe2\x82\xac \xf0\x9f\x99\x82 \xf4\x8f\xbf\xbf"), "accepted");
}

TEST(Config_Yaml, MutatedConfigsAreAnswered) {
  const std::string text = kMinimal +
                           "kernels: {overrides: [{op: rope, layers: 3-5, backend: \"r\"}], "
                           "options: {a: &x [1, 2], b: *x}}\n"
                           "sampling:\n  stages:\n    - top_p: {p: 0.9}\n    - cdf\n  # "
                           "comment\ngeneration: {stop: ['a', |\n";
  const std::string alphabet = "{}[]:,-&*!|>'\"%@`#?\n\t \\~<=a0\x01\xc3\xa9";
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string mutated = text;
    for (int edit = 0; edit < 4; ++edit) {
      const size_t at = random() % mutated.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          mutated[at] = c;
          break;
        case 1:
          mutated.insert(at, 1 + random() % 3, c);
          break;
        default:
          mutated.erase(at, 1 + random() % 5);
          break;
      }
    }
    const auto value = parse_yaml(mutated, "t");
    EXPECT_TRUE(value || value.error().code == PLUMB_INVALID_CONFIG) << mutated;
  }
}

}  // namespace
}  // namespace plumbline::config
