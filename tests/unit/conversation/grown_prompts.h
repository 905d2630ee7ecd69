// grown_prompts.h: conversations that grow, shrink and are attacked, through the span cache.
//
// Oracle: pipeline::encode_rendered on the whole prompt.
#pragma once

#include "core/conversation/span_cache.h"
#include "tests/support/attacked_prompts.h"

namespace plumbline::test {

struct GrownTally {
  size_t n_prompts = 0;
  uint64_t n_encoded_bytes = 0;
  uint64_t n_reused_bytes = 0;
};

/// Turns of a conversation under one public template, of which each prompt is encoded by one cache.
/// texts: what strangers say, in turns.
inline void grow(const pipeline::Tokenizer& tokenizer, const std::string& template_path,
                 std::span<const std::string> texts, GrownTally& tally) {
  const std::vector<uint8_t> bytes = read_file(template_path);
  const std::string source(bytes.begin(), bytes.end());
  const auto engine = *host().find<plumb_template_engine>({.pin = "jinja"});
  const auto compiled =
      pipeline::ChatTemplate::create(engine.id, *engine.table, engine.host, source, "hf");
  ASSERT_TRUE(compiled) << compiled.error().message;
  const std::vector<uint64_t> bits = *pipeline::control_set(tokenizer, source, {});
  conversation::SpanCache cache(tokenizer, bits);
  OrderedJson messages = OrderedJson::array();
  for (const std::string& text : texts) {
    messages.push_back({{"role", "user"}, {"content", text}});
    OrderedJson context = conversation({"x"}, false);
    context["messages"] = messages;
    auto rendered =
        pipeline::render_conversation(*compiled, context, {.template_source = source}, 0);
    messages.push_back({{"role", "assistant"}, {"content", "Yes: " + text.substr(0, 7)}});
    if (messages.size() > 12) messages.erase(messages.begin(), messages.begin() + 2);
    if (!rendered) continue;
    const pipeline::Prompt prompt{std::move(rendered->bytes), true, std::move(rendered->untrusted)};
    const auto expected = pipeline::encode_rendered(tokenizer, prompt, bits);
    const auto parts = cache.encode(prompt);
    ASSERT_EQ(parts.has_value(), expected.has_value()) << prompt.bytes;
    if (!parts) continue;
    ++tally.n_prompts;
    std::vector<int32_t> joined;
    std::string joined_bytes;
    for (const auto& part : *parts) {
      joined.insert(joined.end(), part.ids.begin(), part.ids.end());
      joined_bytes += part.bytes;
    }
    ASSERT_EQ(joined, expected->ids) << prompt.bytes;
    ASSERT_EQ(joined_bytes, prompt.bytes);
  }
  tally.n_encoded_bytes += cache.n_encoded_bytes();
  tally.n_reused_bytes += cache.n_reused_bytes();
}

/// Harmless texts and some of the attacks.
inline std::vector<std::string> strangers_texts(size_t first, size_t stride) {
  std::vector<std::string> texts(std::begin(kHarmless), std::end(kHarmless));
  const auto all = attacks();
  for (size_t i = first; i < all.size(); i += stride) texts.push_back(all[i].front());
  return texts;
}

}  // namespace plumbline::test
