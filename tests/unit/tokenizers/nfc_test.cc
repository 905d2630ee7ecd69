// Oracle: the NFC normaliser of the tokenizers library (golden/tokenizer_fuzz/nfc.jsonl).
#include <gtest/gtest.h>

#include "plugins/tokenizers/hf/normal_forms.h"
#include "tests/support/golden_cases.h"

namespace plumbline::tokenizers::hf {
namespace {

TEST(Nfc, IsTheReferencesForm) {
  const auto lines = test::read_jsonl(test::golden_path("tokenizer_fuzz/nfc.jsonl"));
  ASSERT_GE(lines.size(), 500u);
  for (const auto& line : lines) {
    const std::string text = line["text"];
    tokenizer::MappedText storage;
    const tokenizer::MappedView view =
        to_normal_form(NormalForm::kNfc, tokenizer::MappedView(text), storage);
    EXPECT_EQ(view.text(), line["nfc"].get<std::string>()) << line;
    // The origins run through the text without a gap.
    uint64_t last_end = 0;
    for (size_t i = 0; i < view.text().size(); ++i) {
      const plumb_span origin = view.source(i, i + 1);
      EXPECT_LE(origin.begin, last_end);
      EXPECT_GE(origin.end, last_end);
      last_end = origin.end;
    }
    EXPECT_EQ(last_end, text.size());
  }
}

TEST(Nfc, AChangedUnitMapsToTheWholeUnit) {
  const std::string text = "xe\u0301y";
  tokenizer::MappedText storage;
  const tokenizer::MappedView view =
      to_normal_form(NormalForm::kNfc, tokenizer::MappedView(text), storage);
  EXPECT_EQ(view.text(), "x\u00e9y");
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(view.source(i, i + 1).begin, 1u);
    EXPECT_EQ(view.source(i, i + 1).end, 4u);
  }
  EXPECT_EQ(view.source(3, 4).begin, 4u);
}

/// Ordering marks by insertion would take 10^11 steps.
TEST(Nfc, AMillionMarksOutOfOrder) {
  std::string text = "e";
  while (text.size() < 2000000) text += "\u0301\u0323";
  tokenizer::MappedText storage;
  EXPECT_FALSE(
      to_normal_form(NormalForm::kNfc, tokenizer::MappedView(text), storage).text().empty());
}

}  // namespace
}  // namespace plumbline::tokenizers::hf
