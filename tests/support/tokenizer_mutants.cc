#include <algorithm>

#include "tests/support/mutants.h"

namespace plumbline::test {
namespace {

using nlohmann::json;

json object(const char* text) {
  return json::parse(text);
}

/// The section as a list of steps.
std::vector<json> steps(const json& tokenizer, const char* section, const char* list) {
  const json& found = tokenizer[section];
  if (found.is_null()) return {};
  if (found.contains(list)) return found[list].get<std::vector<json>>();
  return {found};
}

void put(json& tokenizer, const char* section, const char* list, const std::vector<json>& all) {
  json sequence = json::object();
  sequence["type"] = "Sequence";
  sequence[list] = all;
  tokenizer[section] = sequence;
}

bool insert_normalizers(json& tokenizer, const std::vector<json>& more) {
  std::vector<json> all = more;
  for (json& step : steps(tokenizer, "normalizer", "normalizers")) all.push_back(std::move(step));
  put(tokenizer, "normalizer", "normalizers", all);
  return true;
}

bool has_normalizer(const json& tokenizer, const char* type) {
  for (const json& step : steps(tokenizer, "normalizer", "normalizers")) {
    if (step["type"] == type) return true;
  }
  return false;
}

bool erase_normalizer(json& tokenizer, const char* type) {
  std::vector<json> all = steps(tokenizer, "normalizer", "normalizers");
  if (std::erase_if(all, [&](const json& step) { return step["type"] == type; }) == 0) return false;
  if (all.empty()) {
    tokenizer["normalizer"] = nullptr;
  } else {
    put(tokenizer, "normalizer", "normalizers", all);
  }
  return true;
}

/// The first pre-tokenizer of a type.
json* cut(json& tokenizer, const char* type) {
  json& section = tokenizer["pre_tokenizer"];
  if (section.is_null()) return nullptr;
  if (section["type"] == type) return &section;
  if (!section.contains("pretokenizers")) return nullptr;
  for (json& step : section["pretokenizers"]) {
    if (step["type"] == type) return &step;
  }
  return nullptr;
}

bool exchange_in_pattern(json& tokenizer, const std::string& old, const std::string& with) {
  json* const split = cut(tokenizer, "Split");
  if (split == nullptr || !(*split)["pattern"].contains("Regex")) return false;
  std::string regex = (*split)["pattern"]["Regex"];
  const size_t at = regex.find(old);
  if (at == std::string::npos) return false;
  (*split)["pattern"]["Regex"] = regex.replace(at, old.size(), with);
  return true;
}

/// Byte-level BPE behind one pattern, which is another model's.
bool cut_as(json& tokenizer, const char* regex) {
  json* const bytes = cut(tokenizer, "ByteLevel");
  if (bytes == nullptr || tokenizer["model"]["type"] != "BPE") return false;
  json level = *bytes;
  level["use_regex"] = false;
  json split = object(R"({"type": "Split", "behavior": "Isolated", "invert": false})");
  split["pattern"] = json::object({{"Regex", regex}});
  put(tokenizer, "pre_tokenizer", "pretokenizers", {split, level});
  return true;
}

bool flip_flag(json& tokenizer, const char* key, bool wanted) {
  json& model = tokenizer["model"];
  if (model.value(key, false) == wanted) return false;
  model[key] = wanted;
  return true;
}

/// All ids one higher, with a new token below.
bool shift_ids(json& tokenizer) {
  json& model = tokenizer["model"];
  if (model["vocab"].is_object()) {
    for (auto& [token, id] : model["vocab"].items()) id = id.get<int>() + 1;
    model["vocab"]["\u0001new"] = 0;
  } else {
    json list = json::array({json::array({"\u0001new", -1000.0})});
    for (const json& one : model["vocab"]) list.push_back(one);
    model["vocab"] = list;
    if (model["unk_id"].is_number()) model["unk_id"] = model["unk_id"].get<int>() + 1;
  }
  for (json& token : tokenizer["added_tokens"]) token["id"] = token["id"].get<int>() + 1;
  json& post = tokenizer["post_processor"];
  if (post.is_null()) return true;
  if (post.contains("special_tokens")) {
    for (auto& [name, token] : post["special_tokens"].items()) {
      for (json& id : token["ids"]) id = id.get<int>() + 1;
    }
  }
  for (const char* key : {"cls", "sep"}) {
    if (post.contains(key)) post[key][1] = post[key][1].get<int>() + 1;
  }
  return true;
}

/// The first special token that is not the unknown one becomes another literal. All others keep
/// their ids: a literal that is a word leaves its place to none.
bool misspell_special(json& tokenizer) {
  json& added = tokenizer["added_tokens"];
  const json& vocabulary = tokenizer["model"]["vocab"];
  const auto is_word = [&](const std::string& content) {
    if (vocabulary.is_object()) return vocabulary.contains(content);
    return std::ranges::any_of(vocabulary, [&](const json& one) { return one[0] == content; });
  };
  for (size_t i = 0; i < added.size(); ++i) {
    const std::string content = added[i]["content"];
    const bool is_unknown =
        content.find("unk") != content.npos || content.find("UNK") != content.npos;
    if (added[i]["special"] != true || is_unknown) continue;
    json misspelt = added[i];
    misspelt["content"] = content + "\u0001";
    if (is_word(content)) {
      added.erase(i);
      added.push_back(misspelt);
    } else {
      added[i] = misspelt;
    }
    return true;
  }
  return false;
}

bool change_prefix(json& tokenizer, const std::function<void(json& single)>& change) {
  json& post = tokenizer["post_processor"];
  if (post.is_null() || post["type"] != "TemplateProcessing") return false;
  if (!post["single"][0].contains("SpecialToken")) return false;
  change(post["single"]);
  return true;
}

// Source  the published tokenizer.json of Qwen 2 and Llama 3.
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace

const std::vector<TokenizerMutant>& encoding_mutants() {
  static const std::vector<TokenizerMutant> kMutants = {
      {"bos_missing", "no post-processor",
       [](json& tokenizer, json& config) {
         const json post = tokenizer["post_processor"];
         if (post.is_null() || post["type"] == "ByteLevel") return false;
         if (post.contains("single") && !post["single"][0].contains("SpecialToken")) return false;
         tokenizer["post_processor"] = nullptr;
         config["add_bos_token"] = false;
         return true;
       }},
      {"bos_missing", "add_bos_token off",
       [](json&, json& config) {
         if (!config.value("add_bos_token", false)) return false;
         config["add_bos_token"] = false;
         return true;
       }},
      {"bos_doubled", "twice in the post-processor",
       [](json& tokenizer, json&) {
         return change_prefix(tokenizer,
                              [](json& single) { single.insert(single.begin(), json(single[0])); });
       }},
      {"bos_added", "add_bos_token on",
       [](json& tokenizer, json& config) {
         if (!config.contains("bos_token") || config.value("add_bos_token", false)) return false;
         const json& post = tokenizer["post_processor"];
         if (!post.is_null() && post["type"] != "ByteLevel") return false;
         config["add_bos_token"] = true;
         return true;
       }},
      {"prefix_space_lost", "Prepend",
       [](json& tokenizer, json&) { return erase_normalizer(tokenizer, "Prepend"); }},
      {"prefix_space_lost", "Metaspace",
       [](json& tokenizer, json&) {
         json* const space = cut(tokenizer, "Metaspace");
         if (space == nullptr) return false;
         (*space)["prepend_scheme"] = "never";
         return true;
       }},
      {"prefix_space_lost", "ByteLevel",
       [](json& tokenizer, json&) {
         json* const bytes = cut(tokenizer, "ByteLevel");
         if (bytes == nullptr || (*bytes)["add_prefix_space"] == false) return false;
         (*bytes)["add_prefix_space"] = false;
         return true;
       }},
      {"prefix_space_added", "ByteLevel",
       [](json& tokenizer, json&) {
         json* const bytes = cut(tokenizer, "ByteLevel");
         if (bytes == nullptr || (*bytes)["add_prefix_space"] == true) return false;
         (*bytes)["add_prefix_space"] = true;
         return true;
       }},
      {"normaliser_missing", "null",
       [](json& tokenizer, json&) {
         if (tokenizer["normalizer"].is_null()) return false;
         tokenizer["normalizer"] = nullptr;
         return true;
       }},
      {"normaliser_wrong", "NFKC for NFC",
       [](json& tokenizer, json&) {
         return erase_normalizer(tokenizer, "NFC") &&
                insert_normalizers(tokenizer, {object(R"({"type": "NFKC"})")});
       }},
      {"normaliser_wrong", "NFC too",
       [](json& tokenizer, json&) {
         return !has_normalizer(tokenizer, "NFC") && !has_normalizer(tokenizer, "NFKC") &&
                insert_normalizers(tokenizer, {object(R"({"type": "NFC"})")});
       }},
      {"normaliser_wrong", "lower case too",
       [](json& tokenizer, json&) {
         return !has_normalizer(tokenizer, "Lowercase") &&
                insert_normalizers(tokenizer, {object(R"({"type": "Lowercase"})")});
       }},
      {"normaliser_wrong", "no lower case",
       [](json& tokenizer, json&) {
         return steps(tokenizer, "normalizer", "normalizers").size() > 1 &&
                erase_normalizer(tokenizer, "Lowercase");
       }},
      {"normaliser_wrong", "accents stripped",
       [](json& tokenizer, json&) {
         return insert_normalizers(
             tokenizer, {object(R"({"type": "NFD"})"), object(R"({"type": "StripAccents"})")});
       }},
      {"normaliser_wrong", "BERT's case",
       [](json& tokenizer, json&) {
         json& found = tokenizer["normalizer"];
         if (found.is_null() || found["type"] != "BertNormalizer") return false;
         found["lowercase"] = !found["lowercase"].get<bool>();
         return true;
       }},
      {"line_ends_changed", "CRLF read as LF",
       [](json& tokenizer, json&) {
         return insert_normalizers(
             tokenizer,
             {object(R"({"type": "Replace", "pattern": {"String": "\r\n"}, "content": "\n"})")});
       }},
      {"white_space_collapsed", "\\s+",
       [](json& tokenizer, json&) {
         return insert_normalizers(
             tokenizer,
             {object(R"({"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "})")});
       }},
      {"unicode_replaced", "question marks",
       [](json& tokenizer, json&) {
         return insert_normalizers(
             tokenizer,
             {object(
                 R"({"type": "Replace", "pattern": {"Regex": "[^\\x00-\\x7F]"}, "content": "?"})")});
       }},
      {"added_token_split", "a special token misspelt",
       [](json& tokenizer, json&) { return misspell_special(tokenizer); }},
      {"pre_tokenizer_wrong", "digits one by one",
       [](json& tokenizer, json&) {
         return exchange_in_pattern(tokenizer, "\\p{N}{1,3}", "\\p{N}");
       }},
      {"pre_tokenizer_wrong", "digits first",
       [](json& tokenizer, json&) {
         std::vector<json> all = steps(tokenizer, "pre_tokenizer", "pretokenizers");
         if (all.empty() || cut(tokenizer, "Digits") != nullptr) return false;
         all.insert(all.begin(), object(R"({"type": "Digits", "individual_digits": true})"));
         put(tokenizer, "pre_tokenizer", "pretokenizers", all);
         return true;
       }},
      {"pre_tokenizer_wrong", "Qwen 2's pattern",
       [](json& tokenizer, json&) { return cut_as(tokenizer, kQwen2); }},
      {"pre_tokenizer_wrong", "Llama 3's pattern",
       [](json& tokenizer, json&) { return cut_as(tokenizer, kLlama3); }},
      {"pre_tokenizer_wrong", "white space alone",
       [](json& tokenizer, json&) {
         const json& section = tokenizer["pre_tokenizer"];
         if (section.is_null() || section["type"] != "BertPreTokenizer") return false;
         tokenizer["pre_tokenizer"] = object(R"({"type": "WhitespaceSplit"})");
         return true;
       }},
      {"merges_cut", "a quarter",
       [](json& tokenizer, json&) {
         json& model = tokenizer["model"];
         if (model["type"] != "BPE" || model["merges"].size() < 8) return false;
         json& merges = model["merges"];
         merges.erase(merges.begin() + static_cast<std::ptrdiff_t>(merges.size() * 3 / 4),
                      merges.end());
         return true;
       }},
      {"ignore_merges_changed", "off",
       [](json& tokenizer, json&) { return flip_flag(tokenizer, "ignore_merges", false); }},
      {"ignore_merges_changed", "on",
       [](json& tokenizer, json&) {
         return tokenizer["model"]["type"] == "BPE" && flip_flag(tokenizer, "ignore_merges", true);
       }},
      {"byte_fallback_missing", "off",
       [](json& tokenizer, json&) { return flip_flag(tokenizer, "byte_fallback", false); }},
      {"unknown_fusion_changed", "off",
       [](json& tokenizer, json&) { return flip_flag(tokenizer, "fuse_unk", false); }},
      {"unknown_fusion_changed", "on",
       [](json& tokenizer, json&) {
         return tokenizer["model"]["type"] == "BPE" && flip_flag(tokenizer, "fuse_unk", true);
       }},
      {"vocabulary_shifted", "one token more in front",
       [](json& tokenizer, json&) { return shift_ids(tokenizer); }},
  };
  return kMutants;
}

}  // namespace plumbline::test
