// Oracle: plugins/templates/raw/README.md, worked out by hand.

#include <gtest/gtest.h>

#include "raw_prompt.h"

namespace plumbline::test {
namespace {

namespace raw = templates::raw;

/// The prompt with ⟦ ⟧ around what strangers wrote, or the error.
std::string drawn(std::string_view options_json, std::string_view context,
                  std::string_view untrusted = "") {
  const auto options = raw::read_options(options_json);
  if (!options) return "error: " + options.error().message;
  const auto prompt = raw::render(*options, context, untrusted);
  if (!prompt) return "error: " + prompt.error().message;
  std::string out;
  std::size_t at = 0;
  for (const plumb_span& span : prompt->untrusted) {
    out += prompt->text.substr(at, span.begin - at) + "⟦" +
           prompt->text.substr(span.begin, span.end - span.begin) + "⟧";
    at = span.end;
  }
  return out + prompt->text.substr(at);
}

constexpr std::string_view kContext =
    R"({"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "text", "text": "a"},
        {"type": "text", "text": "b"}]}, {"role": "assistant", "content": null}, {"role": "user", "content": "c"}],
        "add_generation_prompt": true})";
constexpr std::string_view kFrames =
    R"({"separator": "\n", "roles": {"user": {"prefix": "Q: ", "suffix": "."}, "assistant": {"prefix": "A:"}}})";

TEST(Templates_Raw, PutsContentsOneAfterTheOther) {
  EXPECT_EQ(drawn("", kContext), "Sabc");
  EXPECT_EQ(drawn("{}", R"({"messages": []})"), "");
  EXPECT_EQ(drawn(R"({"undefined": "strict"})", R"({"messages": [{"role": "user"}]})"), "");
  EXPECT_EQ(drawn(kFrames, kContext), "S\nQ: ab.\nA:\nQ: c.\nA:");
}

TEST(Templates_Raw, TellsWhatStrangersWrote) {
  EXPECT_EQ(drawn("", kContext, R"(["/messages/1", "/messages/3/content"])"), "S⟦abc⟧");
  EXPECT_EQ(drawn(kFrames, kContext, R"(["/messages/1/content/1", "/messages/3"])"),
            "S\nQ: a⟦b⟧.\nA:\nQ: ⟦c⟧.\nA:");
  EXPECT_EQ(drawn(kFrames, kContext, R"([""])"), "⟦S⟧\nQ: ⟦ab⟧.\nA:\nQ: ⟦c⟧.\nA:");
  for (const char* wrong : {"{}", "[", "[1]", R"(["messages"])", R"(["/messages/4"])",
                            R"(["/messages/01"])", R"(["/a~2"])"})
    EXPECT_TRUE(drawn("", kContext, wrong).starts_with("error: untrusted: ")) << wrong;
}

TEST(Templates_Raw, RefusesWhatItCannotShow) {
  EXPECT_EQ(drawn("[]", "{}"), "error: template options: a JSON object expected");
  EXPECT_EQ(drawn(R"({"role": {}})", "{}"),
            "error: template options: unknown key 'role' seen, 'separator', 'roles' or 'undefined' "
            "expected");
  EXPECT_EQ(drawn(R"({"roles": {"user": {"prefx": ""}}})", "{}"),
            "error: template options: roles.user: unknown key 'prefx' seen, 'prefix' or 'suffix' "
            "expected");
  EXPECT_EQ(drawn(R"({"roles": {"user": {"prefix": 1}}})", "{}"),
            "error: template options: roles.user.prefix: number seen, a string expected");
  for (const char* context : {"", "{", "[]", "{}", R"({"messages": {}})"})
    EXPECT_EQ(drawn("", context),
              "error: context: a JSON object with an array 'messages' expected");
  EXPECT_EQ(drawn("", R"({"messages": [{"content": "a"}]})"),
            "error: /messages/0: an object with a role expected");
  EXPECT_EQ(drawn("", R"({"messages": [{"role": "user", "content": 1}]})"),
            "error: /messages/0/content: number seen, a text or a list of parts expected");
  EXPECT_EQ(drawn("", R"({"messages": [{"role": "user", "content": [{"type": "image"}]}]})"),
            "error: /messages/0/content/0: a part of type text with a text expected");
}

TEST(Templates_Raw, DeepContextsEnd) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(drawn("", R"({"messages": [{"role": "user", "content": )" + deep + "}]}"),
            "error: /messages/0/content/0: a part of type text with a text expected");
}

}  // namespace
}  // namespace plumbline::test
