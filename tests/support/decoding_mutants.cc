#include "tests/support/mutants.h"

namespace plumbline::test {
namespace {

using nlohmann::json;

/// The decoder's first step of a type.
json* decoder(json& tokenizer, const char* type) {
  json& section = tokenizer["decoder"];
  if (section.is_null()) return nullptr;
  if (section["type"] == type) return &section;
  if (!section.contains("decoders")) return nullptr;
  for (json& step : section["decoders"]) {
    if (step["type"] == type) return &step;
  }
  return nullptr;
}

bool erase_decoder(json& tokenizer, const char* type) {
  json& section = tokenizer["decoder"];
  if (decoder(tokenizer, type) == nullptr) return false;
  if (section["type"] == type) {
    section = nullptr;
    return true;
  }
  json kept = json::array();
  for (const json& step : section["decoders"]) {
    if (step["type"] != type) kept.push_back(step);
  }
  section["decoders"] = kept;
  return true;
}

bool flip_special(json& tokenizer, bool is_special) {
  bool is_changed = false;
  for (json& token : tokenizer["added_tokens"]) {
    const std::string content = token["content"];
    if (content.find("unk") != content.npos || content.find("UNK") != content.npos) continue;
    is_changed |= token["special"] == is_special;
    if (token["special"] == is_special) token["special"] = !is_special;
  }
  return is_changed;
}

}  // namespace

const std::vector<TokenizerMutant>& decoding_mutants() {
  static const std::vector<TokenizerMutant> kMutants = {
      {"special_tokens_shown", "no token is special",
       [](json& tokenizer, json&) { return flip_special(tokenizer, true); }},
      {"literals_hidden", "all added tokens are special",
       [](json& tokenizer, json&) { return flip_special(tokenizer, false); }},
      {"clean_up_spaces", "on",
       [](json& tokenizer, json&) {
         json* const step = decoder(tokenizer, "WordPiece");
         if (step == nullptr) return false;
         (*step)["cleanup"] = !(*step)["cleanup"].get<bool>();
         return true;
       }},
      {"leading_space_kept", "no Strip",
       [](json& tokenizer, json&) { return erase_decoder(tokenizer, "Strip"); }},
      {"leading_space_kept", "Metaspace",
       [](json& tokenizer, json&) {
         json* const step = decoder(tokenizer, "Metaspace");
         if (step == nullptr || (*step)["prepend_scheme"] == "never") return false;
         (*step)["prepend_scheme"] = "never";
         return true;
       }},
      {"leading_space_lost", "Strip behind ByteLevel",
       [](json& tokenizer, json&) {
         json* const step = decoder(tokenizer, "ByteLevel");
         if (step == nullptr) return false;
         const json strip =
             json::parse(R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})");
         json sequence = json::object();
         sequence["type"] = "Sequence";
         sequence["decoders"] = json::array({*step, strip});
         tokenizer["decoder"] = sequence;
         return true;
       }},
      {"byte_tokens_shown", "no ByteFallback",
       [](json& tokenizer, json&) { return erase_decoder(tokenizer, "ByteFallback"); }},
      {"space_mark_shown", "no Replace",
       [](json& tokenizer, json&) { return erase_decoder(tokenizer, "Replace"); }},
      {"space_mark_shown", "no Metaspace",
       [](json& tokenizer, json&) { return erase_decoder(tokenizer, "Metaspace"); }},
      {"byte_alphabet_shown", "no ByteLevel",
       [](json& tokenizer, json&) { return erase_decoder(tokenizer, "ByteLevel"); }},
  };
  return kMutants;
}

}  // namespace plumbline::test
