#include "tokenizer_json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "json_model.h"
#include "json_steps.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::MetadataReader;
using tokenizer::Vocabulary;

constexpr size_t kDeepest = 128;  // serde_json's limit

/// A parsed file; its nodes live as long.
class Document {
 public:
  Result<JsonNode> parse(std::string_view text) {
    if (text.size() > std::numeric_limits<uint32_t>::max())
      return Error{PLUMB_CORRUPT, "more than 4 GiB"};
    if (text.empty()) return Error{PLUMB_CORRUPT, "no JSON: empty"};
    simdjson::error_code failed = parser_.allocate(text.size(), kDeepest);
    simdjson::dom::element root;
    if (failed == simdjson::SUCCESS) failed = parser_.parse(text.data(), text.size()).get(root);
    if (failed != simdjson::SUCCESS)
      return Error{PLUMB_CORRUPT, std::string("no JSON: ") + simdjson::error_message(failed)};
    if (!root.is_object()) return Error{PLUMB_CORRUPT, "an object expected"};
    return JsonNode(root, "");
  }

 private:
  simdjson::dom::parser parser_;
};

/// The outer members of a tokenizer_config.json. Such files have whole numbers of more than 64
/// bits, which simdjson refuses.
Result<nlohmann::json> parse_config(std::string_view text) {
  using Event = nlohmann::json::parse_event_t;
  const auto is_outer = [](int depth, Event event, nlohmann::json&) {
    return depth < 2 || (event != Event::object_start && event != Event::array_start);
  };
  nlohmann::json config = nlohmann::json::parse(text, is_outer, false);
  if (!config.is_object()) return Error{PLUMB_CORRUPT, "tokenizer_config.json: no JSON object"};
  return config;
}

bool is_set(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_boolean() && found->get<bool>();
}

/// Appends a text to tokens that have room for it.
plumb_str keep(std::string_view text, std::vector<char>& bytes) {
  const size_t begin = bytes.size();
  bytes.insert(bytes.end(), text.begin(), text.end());
  return {bytes.data() + begin, text.size()};
}

class TokenizerReader {
 public:
  explicit TokenizerReader(const JsonNode& root) : root_(root) {}

  Result<Parts> read(std::string_view config_text) {
    if (!config_text.empty()) {
      PLUMB_ASSIGN(config_, parse_config(config_text));
    }
    if (const auto version = root_.find("version")) {
      PLUMB_ASSIGN(const std::string_view text, version->text());
      if (text != "1.0")
        return version->error("\"" + std::string(text) + "\", \"1.0\" expected", PLUMB_UNSUPPORTED);
    }
    PLUMB_TRY(read_steps());
    PLUMB_TRY(read_words());
    PLUMB_TRY(read_added());
    PLUMB_TRY(name_tokens());
    if (const auto post = root_.find("post_processor")) {
      Surroundings around;
      PLUMB_TRY(read_post_processor(*post, parts_.vocabulary.tokens.size(), around));
      parts_.prefix_ids = std::move(around.prefix_ids);
      parts_.suffix_ids = std::move(around.suffix_ids);
    }
    PLUMB_TRY(read_roles());
    return std::move(parts_);
  }

 private:
  struct Added {
    AddedToken token;
    std::string content;
  };

  Result<void> read_steps() {
    if (const auto node = root_.find("normalizer"))
      PLUMB_TRY(read_normalizer(*node, parts_.normalizer));
    if (const auto node = root_.find("pre_tokenizer")) PLUMB_TRY(read_splitter(*node, splitter_));
    if (const auto node = root_.find("decoder")) {
      PLUMB_TRY(read_decoder(*node, parts_.decoder));
    } else {
      parts_.decoder.add(join_decode_step());
    }
    return {};
  }

  /// The model with its tokens.
  Result<void> read_words() {
    PLUMB_ASSIGN(const JsonNode model, root_.at("model"));
    PLUMB_ASSIGN(ModelVocabulary words, read_model_vocabulary(model));
    n_words_ = words.n_tokens;
    size_t n_bytes = 0;
    for (const std::string_view token : words.tokens) n_bytes += token.size();
    if (const auto added = root_.find("added_tokens")) {
      PLUMB_ASSIGN(const std::vector<JsonNode> items, added->items());
      for (const JsonNode& one : items) {
        PLUMB_ASSIGN(const std::string_view content, one.text_at("content"));
        n_bytes += content.size();
      }
    }
    parts_.owned.bytes.reserve(n_bytes);  // the views stay good
    for (std::string_view& token : words.tokens) {
      const plumb_str kept = keep(token, parts_.owned.bytes);
      parts_.owned.views.push_back(kept);
      token = to_view(kept);
    }
    PLUMB_TRY(find_words(words.tokens));
    bool reads_bytes = splitter_.ends_in_bytes;
    PLUMB_ASSIGN(ModelReading reading, read_model(model, words.tokens, reads_bytes));
    if (splitter_.ends_in_bytes && !reads_bytes) splitter_.splitter.add(byte_alphabet_split_step());
    parts_.model = std::move(reading.model);
    unknown_id_ = reading.unknown_id;
    parts_.splitter = std::move(splitter_.splitter);
    return {};
  }

  /// Ids as the library gives them: a literal that is a word has that word's; the others follow the
  /// words, whatever the file says. Source  tokenizers, added_vocabulary.rs, add_tokens.
  Result<void> read_added() {
    const auto list = root_.find("added_tokens");
    if (!list) return {};
    PLUMB_ASSIGN(const std::vector<JsonNode> items, list->items());
    size_t next_id = n_words_;
    std::unordered_map<std::string, size_t> known;
    for (const JsonNode& node : items) {
      PLUMB_ASSIGN(Added added, read_one(node));
      if (added.content.empty()) continue;
      const auto [place, is_new] = known.try_emplace(added.content, added_.size());
      if (!is_new) {
        Added& first = added_[place->second];
        added.token.id = first.token.id;
        added.token.is_special |= first.token.is_special;
        first = std::move(added);
        continue;
      }
      added.token.id = word(added.content);
      if (added.token.id < 0) {
        if (next_id < parts_.owned.views.size() && parts_.owned.views[next_id].bytes > 0) {
          return node.error("would get the id " + std::to_string(next_id) +
                            ", which is a word's: the vocabulary has holes");
        }
        if (next_id >= kMostTokens) return node.error("too many tokens");
        added.token.id = static_cast<int32_t>(next_id++);
      }
      added_.push_back(std::move(added));
    }
    return {};
  }

  static Result<Added> read_one(const JsonNode& node) {
    Added added;
    PLUMB_ASSIGN(const std::string_view content, node.text_at("content"));
    PLUMB_ASSIGN(added.token.is_special, node.flag_at("special"));
    PLUMB_ASSIGN(added.token.is_normalized, node.flag_at("normalized"));
    PLUMB_ASSIGN(added.token.is_single_word, node.flag_at("single_word"));
    PLUMB_ASSIGN(added.token.takes_left, node.flag_at("lstrip"));
    PLUMB_ASSIGN(added.token.takes_right, node.flag_at("rstrip"));
    added.content = content;
    return added;
  }

  /// The vocabulary out of words and added tokens, with the forms in which the latter are looked
  /// for.
  Result<void> name_tokens() {
    auto& views = parts_.owned.views;
    for (const Added& added : added_) {
      const size_t id = static_cast<size_t>(added.token.id);
      if (id >= views.size()) views.resize(id + 1);
      views[id] = keep(added.content, parts_.owned.bytes);
    }
    if (views.empty()) return Error{PLUMB_CORRUPT, "model.vocab: no tokens"};
    Vocabulary& vocabulary = parts_.vocabulary;
    vocabulary.tokens = views;
    vocabulary.attributes.assign(views.size(), 0);
    for (size_t id = 0; id < views.size(); ++id) {
      if (views[id].bytes == 0) vocabulary.attributes[id] = PLUMB_TOKEN_UNUSED;
    }
    Normalizer::Storage storage;
    Allowance allowance(parts_.owned.bytes.size(), PLUMB_CORRUPT);
    for (Added& added : added_) {
      const size_t id = static_cast<size_t>(added.token.id);
      vocabulary.attributes[id] =
          added.token.is_special ? PLUMB_TOKEN_CONTROL : PLUMB_TOKEN_USER_DEFINED;
      added.token.literal = added.content;
      if (added.token.is_normalized && !parts_.normalizer.is_empty()) {
        PLUMB_ASSIGN(
            const tokenizer::MappedView form,
            parts_.normalizer.apply(tokenizer::MappedView(added.content), storage, allowance));
        added.token.literal = form.text();
        if (form.text() != added.content) {
          parts_.decoded_literals.resize(views.size());
          parts_.decoded_literals[id] = form.text();
        }
      }
      parts_.added.push_back(added.token);
    }
    return {};
  }

  /// Which tokens play which role, by the literals of a tokenizer_config.json.
  Result<void> read_roles() {
    plumb_tokenizer_info& info = parts_.vocabulary.info;
    info.n_vocab = static_cast<uint32_t>(parts_.vocabulary.tokens.size());
    info.unknown_id = unknown_id_;
    PLUMB_ASSIGN(info.bos_id, role("bos_token"));
    PLUMB_ASSIGN(info.eos_id, role("eos_token"));
    PLUMB_ASSIGN(info.padding_id, role("pad_token"));
    bool wants_bos = is_set(config_, "add_bos_token");
    bool wants_eos = is_set(config_, "add_eos_token");
    const auto& prefix = parts_.prefix_ids;
    const auto& suffix = parts_.suffix_ids;
    if (!prefix.empty() || !suffix.empty()) {
      wants_bos = !prefix.empty() && prefix.front() == info.bos_id;
      wants_eos = !suffix.empty() && suffix.back() == info.eos_id;
    }
    info.add_bos = wants_bos && info.bos_id >= 0 ? 1 : 0;
    info.add_eos = wants_eos && info.eos_id >= 0 ? 1 : 0;
    if (unknown_id_ >= 0)
      parts_.vocabulary.attributes[static_cast<size_t>(unknown_id_)] |= PLUMB_TOKEN_UNKNOWN;
    parts_.vocabulary.mark_ends({info.eos_id}, tokenizer::Ends::kLiteralsOnly);
    return {};
  }

  /// "<s>", or {"content": "<s>", ...}; empty if the config does not say.
  Result<std::string> role_literal(const char* key) const {
    const auto found = config_.find(key);
    if (found == config_.end() || found->is_null()) return std::string();
    const nlohmann::json literal =
        found->is_object() ? found->value("content", nlohmann::json()) : *found;
    if (literal.is_string()) return literal.get<std::string>();
    return Error{PLUMB_CORRUPT, "tokenizer_config.json: " + std::string(key) +
                                    ": a literal, or an object with its content, expected"};
  }

  /// -1 if there is none or it is no token.
  Result<int32_t> role(const char* key) const {
    PLUMB_ASSIGN(const std::string literal, role_literal(key));
    for (const Added& added : added_) {
      if (added.content == literal) return added.token.id;
    }
    return word(literal);
  }

  /// Looks the words up that will be asked for: there are few, and the model's words many.
  Result<void> find_words(std::span<const std::string_view> words) {
    if (const auto added = root_.find("added_tokens")) {
      PLUMB_ASSIGN(const std::vector<JsonNode> items, added->items());
      for (const JsonNode& one : items) {
        PLUMB_ASSIGN(const std::string_view content, one.text_at("content"));
        word_ids_.emplace(content, -1);
      }
    }
    for (const char* key : {"bos_token", "eos_token", "pad_token"}) {
      PLUMB_ASSIGN(const std::string literal, role_literal(key));
      word_ids_.emplace(literal, -1);
    }
    std::array<std::array<bool, 64>, 256> may_be{};  // by first byte and size
    const auto may = [&](std::string_view text) -> bool& {
      return may_be[static_cast<uint8_t>(text[0])][std::min(text.size(), size_t{63})];
    };
    for (const auto& [text, id] : word_ids_) {
      if (!text.empty()) may(text) = true;
    }
    std::string key;
    for (size_t id = 0; id < words.size(); ++id) {
      if (words[id].empty() || !may(words[id])) continue;
      key = words[id];
      if (const auto found = word_ids_.find(key); found != word_ids_.end())
        found->second = static_cast<int32_t>(id);
    }
    return {};
  }

  /// The id of a word of the model, or -1.
  int32_t word(const std::string& text) const {
    const auto found = word_ids_.find(text);
    return found == word_ids_.end() ? -1 : found->second;
  }

  const JsonNode& root_;
  Parts parts_;
  SplitterReading splitter_;
  size_t n_words_ = 0;
  nlohmann::json config_ = nlohmann::json::object();
  std::unordered_map<std::string, int32_t> word_ids_;  // of those that may be asked for
  int32_t unknown_id_ = -1;
  std::vector<Added> added_;
};

}  // namespace

bool has_tokenizer_json(const MetadataReader& metadata) {
  return metadata.get(kJsonKey).type == PLUMB_VALUE_STR;
}

Result<Parts> read_tokenizer_json(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view text, metadata.text(kJsonKey, ""));
  PLUMB_ASSIGN(const std::string_view config, metadata.text(kConfigKey, ""));
  Document document;
  Result<JsonNode> root = document.parse(text);
  if (!root) return std::move(root).error().at("tokenizer.json");
  Result<Parts> parts = TokenizerReader(*root).read(config);
  if (!parts) return std::move(parts).error().at("tokenizer.json");
  return parts;
}

}  // namespace plumbline::tokenizers::hf
