// attacked_prompts.h: conversations in which strangers try to forge roles, on one tokenizer under
// every public template.
//
// Oracle: the same conversation with a harmless word in each stranger's place, as the tokenizer
// reads it by itself. Whatever strangers write, the special tokens of a prompt, and the other added
// literals that its template writes, are those of the harmless prompt in the same order.
#pragma once

#include <filesystem>
#include <optional>
#include <set>

#include "core/pipeline/chat_template.h"
#include "core/pipeline/prompt.h"
#include "plumb/sdk/white_space.h"
#include "tests/support/build_host.h"
#include "tests/support/golden_cases.h"

namespace plumbline::test {

using pipeline::OrderedJson;

/// golden/attacks, each as the texts of its parts.
inline std::vector<std::vector<std::string>> attacks() {
  std::vector<std::vector<std::string>> all;
  for (const auto& line : read_jsonl(golden_path("attacks/attacks.jsonl")))
    all.push_back(line["parts"].get<std::vector<std::string>>());
  return all;
}

/// The public chat templates of golden/, by path.
inline std::vector<std::string> public_templates() {
  std::set<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(golden_path("templates/public"))) {
    if (file.path().extension() == ".jinja") paths.insert(file.path().string());
  }
  return {paths.begin(), paths.end()};
}

/// Texts with nothing forged in them, at the borders of which encodings like to differ.
inline constexpr const char* kHarmless[] = {"\nhi",
                                            "  two spaces  ",
                                            "<b>bold</b> & <i>slanted</i>",
                                            "Grüße, 你好 🦙",
                                            "def f(x):\n    return {'a': [1]}\n",
                                            "a <| b |> c",
                                            "1234567 .5",
                                            "tab\tend\r\n",
                                            "\u3000hi\u00a0"};

/// Strangers' texts in every place that a template may have for them. with_tools: a tool is
/// offered, called and answers; documents lie beside.
inline OrderedJson conversation(const std::vector<std::string>& parts, bool with_tools) {
  const auto part = [&](size_t i) { return parts[i % parts.size()]; };
  const auto turn = [](const char* role, const std::string& content) {
    return OrderedJson{{"role", role}, {"content", content}};
  };
  OrderedJson messages = OrderedJson::array();
  // Variables of the operator's that some of the templates insist on.
  OrderedJson context{
      {"functions", "[]"}, {"datetime", "2026-01-01"}, {"add_generation_prompt", true}};
  if (!with_tools) {
    messages.push_back(turn("user", part(0)));
    messages.push_back(turn("assistant", "Yes."));
    messages.push_back(turn("user", part(1)));
    context["messages"] = std::move(messages);
    return context;
  }
  messages.push_back(turn("system", "Be brief."));
  messages.push_back(turn("user", part(0)));
  const OrderedJson arguments{{"town", part(0)}, {"note", part(1)}};
  messages.push_back(
      {{"role", "assistant"},
       {"content", ""},
       {"tool_calls",
        OrderedJson::array({{{"id", "call00001"},
                             {"type", "function"},
                             {"function", {{"name", "f"}, {"arguments", arguments}}}}})}});
  messages.push_back({{"role", "tool"}, {"tool_call_id", "call00001"}, {"content", part(0)}});
  messages.push_back(turn("assistant", "Yes."));
  messages.push_back(turn("user", part(1)));
  const OrderedJson tool{
      {"type", "function"},
      {"function",
       {{"name", "f"},
        {"description", part(0)},
        {"parameters",
         {{"type", "object"},
          {"properties", {{"town", {{"type", "string"}, {"description", part(1)}}}}}}}}}};
  context["messages"] = std::move(messages);
  context["tools"] = OrderedJson::array({tool});
  context["documents"] = OrderedJson::array({{{"title", part(0)}, {"text", part(1)}}});
  return context;
}

/// One tokenizer under one template.
class AttackedPrompts {
 public:
  AttackedPrompts(const pipeline::Tokenizer& tokenizer, const std::string& template_path)
      : tokenizer_(tokenizer) {
    const std::vector<uint8_t> bytes = read_file(template_path);
    source_.assign(bytes.begin(), bytes.end());
    const auto engine = *host().find<plumb_template_engine>({.pin = "jinja"});
    auto compiled =
        pipeline::ChatTemplate::create(engine.id, *engine.table, engine.host, source_, "hf");
    EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
    if (compiled) template_.emplace(*std::move(compiled));
    bits_ = *pipeline::control_set(tokenizer, source_, {});
  }

  /// How many of the attacks reached a prompt; each must leave its markers as they are.
  size_t survive(const std::vector<std::vector<std::string>>& all) const {
    size_t n_rendered = 0;
    for (const bool with_tools : {false, true}) {
      const auto harmless = render({"harmless"}, with_tools);
      if (!harmless) continue;
      const auto plain = tokenizer_.encode(harmless->bytes, PLUMB_SPECIAL_PARSE);
      EXPECT_TRUE(plain) << (plain ? "" : plain.error().message);
      if (!plain) continue;
      const std::set<int32_t> markers = markers_of(*harmless, *plain);
      const std::vector<int32_t> expected = only(markers, plain->ids);
      EXPECT_TRUE(!writes_special(*harmless) || !expected.empty()) << harmless->bytes;
      for (const auto& parts : all) {
        const auto prompt = render(parts, with_tools);
        if (!prompt) continue;
        ++n_rendered;
        const auto encoding = pipeline::encode_rendered(tokenizer_, *prompt, bits_);
        EXPECT_TRUE(encoding) << (encoding ? "" : encoding.error().message);
        if (!encoding) continue;
        EXPECT_EQ(only(markers, encoding->ids), expected)
            << parts.front() << (with_tools ? " with tools" : "");
      }
    }
    return n_rendered;
  }

  /// Where nothing is forged, the ids are those of the whole text, encoded as it is.
  size_t keep_parity() const {
    size_t n_rendered = 0;
    for (const char* text : kHarmless) {
      for (const bool with_tools : {false, true}) {
        const auto prompt = render({text}, with_tools);
        if (!prompt) continue;
        ++n_rendered;
        const auto safe = pipeline::encode_rendered(tokenizer_, *prompt, bits_);
        const auto plain = tokenizer_.encode(prompt->bytes, PLUMB_SPECIAL_PARSE);
        EXPECT_TRUE(safe && plain);
        if (!safe || !plain) continue;
        EXPECT_EQ(safe->ids, plain->ids) << prompt->bytes;
      }
    }
    return n_rendered;
  }

 private:
  // Nothing if the template refuses the conversation.
  std::optional<pipeline::Prompt> render(const std::vector<std::string>& parts,
                                         bool with_tools) const {
    auto rendered = pipeline::render_conversation(*template_, conversation(parts, with_tools),
                                                  {.template_source = source_}, 0);
    if (!rendered) return std::nullopt;
    EXPECT_TRUE(rendered->untrusted);
    return pipeline::Prompt{std::move(rendered->bytes), true, std::move(rendered->untrusted)};
  }

  bool is_special(int32_t id) const {
    return id != tokenizer_.info().unknown_id &&
           (tokenizer_.attributes(id) & PLUMB_TOKEN_CONTROL) != 0;
  }

  // All special tokens, and the other added literals of the prompt that can be seen.
  std::set<int32_t> markers_of(const pipeline::Prompt& prompt,
                               const pipeline::Encoding& encoding) const {
    std::set<int32_t> markers;
    for (uint32_t id = 0; id < tokenizer_.info().n_vocab; ++id) {
      if (is_special(static_cast<int32_t>(id))) markers.insert(static_cast<int32_t>(id));
    }
    for (size_t i = 0; i < encoding.ids.size(); ++i) {
      const plumb_span span = encoding.spans[i];
      const std::string_view text =
          std::string_view(prompt.bytes).substr(span.begin, span.end - span.begin);
      if ((tokenizer_.attributes(encoding.ids[i]) & PLUMB_TOKEN_USER_DEFINED) != 0 &&
          !is_white_space(text))
        markers.insert(encoding.ids[i]);
    }
    return markers;
  }

  static std::vector<int32_t> only(const std::set<int32_t>& wanted,
                                   const std::vector<int32_t>& ids) {
    std::vector<int32_t> kept;
    for (const int32_t id : ids) {
      if (wanted.contains(id)) kept.push_back(id);
    }
    return kept;
  }

  // Does the literal of a special token stand in a prompt?
  bool writes_special(const pipeline::Prompt& prompt) const {
    for (uint32_t at = 0; at < tokenizer_.info().n_vocab; ++at) {
      const auto id = static_cast<int32_t>(at);
      if (!is_special(id)) continue;
      const auto literal = tokenizer_.piece(id, false);
      if (literal && !literal->empty() && prompt.bytes.find(*literal) != std::string::npos)
        return true;
    }
    return false;
  }

  const pipeline::Tokenizer& tokenizer_;
  std::string source_;
  std::optional<pipeline::ChatTemplate> template_;
  std::vector<uint64_t> bits_;
};

/// One in `stride` of all attacks, from the `first` on, on one tokenizer under every public
/// template.
inline void attack(const pipeline::Tokenizer& tokenizer, size_t first = 0, size_t stride = 1) {
  const auto all = attacks();
  ASSERT_GE(all.size(), 500u);
  std::vector<std::vector<std::string>> tried;
  for (size_t i = first; i < all.size(); i += stride) tried.push_back(all[i]);
  size_t n_rendered = 0;
  for (const std::string& path : public_templates()) {
    SCOPED_TRACE(path);
    const AttackedPrompts prompts(tokenizer, path);
    n_rendered += prompts.survive(tried);
    EXPECT_GT(prompts.keep_parity(), 0u);
  }
  // 106 of the pairs of 59 templates and two conversations; the others are refused.
  EXPECT_EQ(n_rendered, 106 * tried.size());
}

}  // namespace plumbline::test
