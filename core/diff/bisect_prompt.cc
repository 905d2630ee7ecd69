#include "core/diff/bisect_prompt.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/diff/text_evidence.h"

namespace plumbline::diff {
namespace {

using pipeline::OrderedJson;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Words, each with the white space before it.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_space(text[end])) ++end;
    while (end < text.size() && !is_space(text[end])) ++end;
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// Characters of UTF-8; a byte that opens none stands alone.
std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    characters.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return characters;
}

std::string joined(const std::vector<std::string>& pieces, const Subset& kept) {
  std::string text;
  for (const uint32_t piece : kept) text += pieces[piece];
  return text;
}

/// One way to take a prompt apart: so many pieces, and the prompt of some of them.
struct Parts {
  size_t n = 0;
  std::function<PromptInput(const Subset&)> keep;
};

Parts parts_of_text(const PromptInput& prompt, std::vector<std::string> pieces) {
  const size_t n = pieces.size();
  return {n, [prompt, pieces = std::move(pieces)](const Subset& kept) {
            PromptInput shorter = prompt;
            shorter.text = joined(pieces, kept);
            return shorter;
          }};
}

Parts ids(const PromptInput& prompt) {
  return {prompt.ids.size(), [prompt](const Subset& kept) {
            PromptInput shorter;
            for (const uint32_t at : kept) shorter.ids.push_back(prompt.ids[at]);
            return shorter;
          }};
}

Parts messages(const PromptInput& prompt) {
  OrderedJson conversation = *prompt.messages;
  return {messages_of(conversation).size(), [prompt](const Subset& kept) {
            PromptInput shorter = prompt;
            OrderedJson& list = messages_of(*shorter.messages);
            OrderedJson rest = OrderedJson::array();
            for (const uint32_t at : kept) rest.push_back(list[at]);
            list = std::move(rest);
            return shorter;
          }};
}

/// Words of all contents that are texts, one behind the other.
Parts words_of_messages(const PromptInput& prompt) {
  struct Word {
    size_t message;
    std::string text;
  };
  std::vector<Word> words;
  OrderedJson conversation = *prompt.messages;
  const OrderedJson& list = messages_of(conversation);
  for (size_t message = 0; message < list.size(); ++message) {
    const OrderedJson& one = list[message];
    if (!one.is_object() || !one.contains("content") || !one["content"].is_string()) continue;
    for (std::string& word : words_of(one["content"].get_ref<const std::string&>()))
      words.push_back({message, std::move(word)});
  }
  const size_t n = words.size();
  return {n, [prompt, words = std::move(words)](const Subset& kept) {
            PromptInput shorter = prompt;
            OrderedJson& contents = messages_of(*shorter.messages);
            for (OrderedJson& one : contents) {
              if (one.is_object() && one.contains("content") && one["content"].is_string())
                one["content"] = "";
            }
            for (const uint32_t at : kept) {
              OrderedJson& content = contents[words[at].message]["content"];
              content = content.get<std::string>() + words[at].text;
            }
            return shorter;
          }};
}

}  // namespace

Result<ShortPrompt> shorten(const PromptInput& prompt,
                            const std::function<Result<Outcome>(const PromptInput&)>& run,
                            uint32_t n_runs_max, const std::function<bool()>& stop) {
  using Take = Parts (*)(const PromptInput&);
  std::vector<Take> takes;
  if (!prompt.ids.empty()) {
    takes = {ids};
  } else if (prompt.messages) {
    takes = {messages, words_of_messages};
  } else {
    takes = {[](const PromptInput& p) { return parts_of_text(p, words_of(p.text)); },
             [](const PromptInput& p) { return parts_of_text(p, characters_of(p.text)); }};
  }
  ShortPrompt shortest{prompt};
  for (const Take take : takes) {
    const Parts parts = take(shortest.prompt);
    if (parts.n < 2) continue;
    Trials trials([&](const Subset& kept) { return run(parts.keep(kept)); },
                  n_runs_max - shortest.n_runs);
    trials.stop_when(stop);
    PLUMB_ASSIGN(const Subset kept, ddmin(all_of(static_cast<uint32_t>(parts.n)), trials));
    if (kept.size() < parts.n) shortest.prompt = parts.keep(kept);
    shortest.n_runs += trials.n_runs();
    shortest.is_cut_short |= trials.is_cut_short();
  }
  return shortest;
}

}  // namespace plumbline::diff
