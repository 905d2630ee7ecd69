// Oracle: nlohmann::json: which texts are JSON, and what they mean; RFC 8259 for what stands in the
// tables.

#include <random>

#include "render.h"

namespace plumbline::test {
namespace {

using Json = nlohmann::ordered_json;
using templates::jinja::ErrorKind;

Rendered through(const std::string& value) {
  return render("{{ x|tojson }}", "{\"x\": " + value + "}");
}

void expect_as_nlohmann(const std::string& value) {
  SCOPED_TRACE(value);
  const Json wanted = Json::parse("{\"x\": " + value + "}", nullptr, false);
  const Rendered got = through(value);
  ASSERT_EQ(got.failed, wanted.is_discarded()) << got.text;
  if (got.failed) {
    EXPECT_EQ(got.kind, ErrorKind::context) << got.text;
  } else {
    EXPECT_EQ(Json::parse(got.text), wanted["x"]) << got.text;
  }
}

TEST(Templates_JinjaContext, CornersOfJson) {
  for (const char* value : {"1",
                            "-1",
                            "0",
                            "-0",
                            "01",
                            "-",
                            "+1",
                            "1.",
                            ".5",
                            "1.5",
                            "1e5",
                            "1E+5",
                            "1e-5",
                            "1e",
                            "1e+",
                            "0.1e1",
                            "-0.0",
                            "9223372036854775807",
                            "-9223372036854775808",
                            "2e308x",
                            "1 2",
                            "0x10",
                            "true",
                            "false",
                            "null",
                            "True",
                            "nul",
                            "nulll",
                            "NaN",
                            "Infinity",
                            "\"\"",
                            "\"a",
                            "\"a\\\"",
                            "\"\\u0041\\n\\/\\b\\f\\r\\t\\\\\\\"\"",
                            "\"\\u004\"",
                            "\"\\u004g\"",
                            "\"\\u\"",
                            "\"\\x\"",
                            "\"\\ud83d\\ude00\"",
                            "\"\\ud83d\"",
                            "\"\\ud83d\\u0041\"",
                            "\"\\ude00\"",
                            "\"\\ud83dx\"",
                            "\"\t\"",
                            "\"\x7f\"",
                            "\"é日本👨\"",
                            "\"\xff\"",
                            "\"a\xc3\"",
                            "\"\xc3(\"",
                            "\"\xed\xa0\x80\"",
                            "\"abcdefg\x01hijklmno\"",
                            "\"abcdefgh\\\"ijklmnopqrstuvwx\"",
                            "[]",
                            "[ ]",
                            "[1,]",
                            "[,1]",
                            "[1 2]",
                            "[1,2",
                            "{}",
                            "{ }",
                            "{\"a\"}",
                            "{\"a\":}",
                            "{\"a\":1,}",
                            "{a:1}",
                            "{1:2}",
                            "{\"a\":1 \"b\":2}",
                            "{\"a\":{\"b\":[{},[],{\"c\":null}]}}",
                            "]",
                            "}",
                            "[}",
                            "{]",
                            "",
                            "\"\\u0000\"",
                            "[\n\t\r 1 ,\n2 ]",
                            "[[[[[]]]]]",
                            "{\"\":\"\"}",
                            "'a'",
                            "/**/1",
                            "[1]//"}) {
    expect_as_nlohmann(value);
  }
  expect_as_nlohmann(std::string("\"a\0b\"", 5));
}

TEST(Templates_JinjaContext, WhatPythonReadsAndNlohmannDoesNot) {
  EXPECT_EQ(through("1e999").text, "Infinity");
  EXPECT_EQ(through("1e-999").text, "0.0");
  EXPECT_EQ(through("123456789012345678901234567890").text, "123456789012345678901234567890");
  EXPECT_EQ(through("{\"a\": 1, \"b\": 2, \"a\": 3}").text, R"({"a": 3, "b": 2})");
}

TEST(Templates_JinjaContext, ErrorsSayWhereAndWhat) {
  const auto error = [](const char* context) { return render("x", context).text; };
  EXPECT_EQ(error("{\"a\" 1}"), "context: byte 5: '1}' seen, ':' expected");
  EXPECT_EQ(error("{\"a\": 1"), "context: byte 7: the end seen, ',' or '}' expected");
  EXPECT_EQ(error("{\"a\": [1 2]}"), "context: byte 9: '2]}' seen, ',' or ']' expected");
  EXPECT_EQ(error("{} x"), "context: byte 3: 'x' seen, the end expected");
  EXPECT_EQ(error("[]"), "context: 'list' seen, a JSON object expected");
}

/// Texts made by changing bytes of good ones.
TEST(Templates_JinjaContext, MutatedTexts) {
  const std::string good[] = {
      R"({"a": [1, -2.5e3, true, {"k": "v\n\u00e9\ud83d\ude00"}], "long key of many letters": null})",
      "[\"plain ascii text of some length\", \"Grüße, 日本語, 👨‍👩‍👧\", "
      "\"\\\\\\\"\\/\", "
      "[[], {}], 0.5]"};
  constexpr std::string_view kBytes = "{}[]\",:\\u0018dDeE+-.tfn \n\x01\x7f\x80\xc3\xed\xff";
  std::mt19937 random(20251201);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good[random() % std::size(good)];
    for (unsigned n = random() % 3 + 1; n > 0; --n) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = kBytes[random() % kBytes.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 3);
          break;
        default:
          text.insert(at, 1, kBytes[random() % kBytes.size()]);
      }
      if (text.empty()) text = "1";
    }
    expect_as_nlohmann(text);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

}  // namespace
}  // namespace plumbline::test
