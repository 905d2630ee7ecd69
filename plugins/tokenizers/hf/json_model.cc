#include "json_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "byte_alphabet.h"
#include "bytes_model.h"
#include "characters_model.h"
#include "unigram_model.h"
#include "word_models.h"

namespace plumbline::tokenizers::hf {
namespace {

using simdjson::dom::element;

/// Files before 0.9 of the library name no type.
Result<std::string_view> type_of(const JsonNode& model) {
  if (model.find("type")) return model.text_at("type");
  if (model.find("merges")) return std::string_view("BPE");
  if (model.find("unk_id")) return std::string_view("Unigram");
  return std::string_view(model.find("continuing_subword_prefix") ? "WordPiece" : "WordLevel");
}

Result<ModelVocabulary> read_object(const JsonNode& vocab) {
  simdjson::dom::object object;
  if (vocab.raw().get(object) != simdjson::SUCCESS) return vocab.error("an object expected");
  // Each id up to the largest takes memory: few tokens may not ask for many.
  const uint64_t end = std::min<uint64_t>(kMostTokens, 4096 + 16 * uint64_t{object.size()});
  ModelVocabulary out;
  for (const auto [token, value] : object) {
    uint64_t id = 0;
    const auto broken = [&](const std::string& what) {
      return vocab.error("token \"" + std::string(token.substr(0, 40)) + "\": " + what);
    };
    if (value.get(id) != simdjson::SUCCESS) return broken("a number from 0 on expected");
    if (id >= end) {
      return broken("id " + std::to_string(id) + ", less than " + std::to_string(end) +
                    " expected for " + std::to_string(object.size()) + " tokens");
    }
    if (id >= out.tokens.size()) {
      if (id >= out.tokens.capacity()) out.tokens.reserve(std::max(id + 1, 2 * id));
      out.tokens.resize(id + 1);
    }
    if (out.tokens[id].data() != nullptr)
      return broken("id " + std::to_string(id) + " is taken by \"" + std::string(out.tokens[id]) +
                    "\"");
    out.tokens[id] = token;
    ++out.n_tokens;
  }
  return out;
}

Result<ModelVocabulary> read_list(const JsonNode& vocab) {
  simdjson::dom::array list;
  if (vocab.raw().get(list) != simdjson::SUCCESS) return vocab.error("a list expected");
  ModelVocabulary out;
  for (const element one : list) {
    std::string_view token;
    if (one.at(0).get(token) != simdjson::SUCCESS)
      return vocab.error("entry " + std::to_string(out.n_tokens) + ": [token, score] expected");
    out.tokens.push_back(token);
    if (++out.n_tokens >= kMostTokens) return vocab.error("too many tokens");
  }
  return out;
}

/// The number that serde_json makes of a decimal: it divides digits by a power of ten, which can be
/// one unit in the last place off, and sums of scores are compared. Source  serde_json, de.rs,
/// f64_from_parts. The digits are the shortest for this double, as the library writes them.
double as_serde_json(double exact) {
  if (exact == 0 || !std::isfinite(exact)) return exact;
  std::array<char, 40> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::fabs(exact),
                                 std::chars_format::scientific);
  uint64_t digits = 0;
  int n_behind_point = 0;
  bool is_behind = false;
  const char* at = text.data();
  for (; at != end.ptr && *at != 'e'; ++at) {
    if (*at == '.') {
      is_behind = true;
      continue;
    }
    digits = digits * 10 + static_cast<uint64_t>(*at - '0');
    n_behind_point += is_behind ? 1 : 0;
  }
  int exponent = 0;
  at += at + 1 < end.ptr && at[1] == '+' ? 2 : 1;
  std::from_chars(at, end.ptr, exponent);
  exponent -= n_behind_point;
  double value = static_cast<double>(digits);
  for (; exponent < -308; exponent += 308) value /= 1e308;
  const double power = std::pow(10.0, std::abs(exponent));
  value = exponent < 0 ? value / power : value * power;
  return exact < 0 ? -value : value;
}

Result<std::vector<double>> read_scores(const JsonNode& vocab) {
  simdjson::dom::array list;
  if (vocab.raw().get(list) != simdjson::SUCCESS) return vocab.error("a list expected");
  std::vector<double> scores;
  for (const element one : list) {
    double score = 0;
    if (one.at(1).get(score) != simdjson::SUCCESS)
      return vocab.error("entry " + std::to_string(scores.size()) + ": [token, score] expected");
    scores.push_back(as_serde_json(score));
  }
  return scores;
}

/// Merges come as ["left", "right"] or, in older files, as "left right".
Result<std::vector<Bpe::MergeTexts>> read_merges(const JsonNode& merges) {
  simdjson::dom::array list;
  if (merges.raw().get(list) != simdjson::SUCCESS) return merges.error("a list expected");
  std::vector<Bpe::MergeTexts> out;
  out.reserve(list.size());
  for (const element one : list) {
    Bpe::MergeTexts rule;
    std::string_view line;
    simdjson::dom::array pair;
    if (one.get(line) == simdjson::SUCCESS) {
      if (line.starts_with("#version")) continue;
      const size_t space = line.find(' ');
      if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
        return merges.error("merge " + std::to_string(out.size()) +
                            " is not two tokens with a space between");
      }
      rule = {line.substr(0, space), line.substr(space + 1)};
    } else if (one.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
               pair.at(0).get(rule.left) != simdjson::SUCCESS ||
               pair.at(1).get(rule.right) != simdjson::SUCCESS) {
      return merges.error("merge " + std::to_string(out.size()) + " is not two tokens");
    }
    out.push_back(rule);
  }
  return out;
}

int32_t id_of(std::span<const std::string_view> tokens, std::string_view token) {
  const auto found = std::find(tokens.begin(), tokens.end(), token);
  return found == tokens.end() || token.empty() ? -1 : static_cast<int32_t>(found - tokens.begin());
}

/// True if each byte's character is a token of its own.
bool has_every_byte(std::span<const std::string_view> tokens) {
  std::array<bool, 256> seen{};
  size_t n = 0;
  std::string bytes;
  for (const std::string_view token : tokens) {
    bytes.clear();
    if (token.size() > 2 || !append_bytes_of(token, bytes) || bytes.size() != 1) continue;
    bool& is_seen = seen[static_cast<uint8_t>(bytes[0])];
    n += is_seen ? 0 : 1;
    is_seen = true;
  }
  return n == seen.size();
}

Result<ModelReading> read_bpe(const JsonNode& model, std::span<const std::string_view> tokens,
                              bool& reads_bytes) {
  if (const auto dropout = model.find("dropout")) {
    double chance = 0;
    if (dropout->raw().get(chance) != simdjson::SUCCESS || chance != 0)
      return dropout->error("merges that are left out at random are not known here",
                            PLUMB_UNSUPPORTED);
  }
  CharactersOptions options;
  PLUMB_ASSIGN(options.ignore_merges, model.flag_at("ignore_merges", false));
  PLUMB_ASSIGN(options.byte_fallback, model.flag_at("byte_fallback", false));
  PLUMB_ASSIGN(options.fuse_unknown, model.flag_at("fuse_unk", false));
  PLUMB_ASSIGN(const std::string_view prefix, model.text_at("continuing_subword_prefix", ""));
  PLUMB_ASSIGN(const std::string_view suffix, model.text_at("end_of_word_suffix", ""));
  options.continuing_prefix = prefix;
  options.word_suffix = suffix;
  if (const auto unknown = model.find("unk_token")) {
    PLUMB_ASSIGN(const std::string_view text, unknown->text());
    options.unknown_id = id_of(tokens, text);
    options.lacks_unknown = options.unknown_id < 0;
    reads_bytes = reads_bytes && has_every_byte(tokens);
  }
  reads_bytes = reads_bytes && prefix.empty() && suffix.empty() && !options.byte_fallback;
  PLUMB_ASSIGN(const JsonNode list, model.at("merges"));
  PLUMB_ASSIGN(const std::vector<Bpe::MergeTexts> merges, read_merges(list));
  ModelReading out{nullptr, options.unknown_id};
  if (reads_bytes) {
    const std::vector<uint8_t> all_text(tokens.size());  // a special token is a word like others
    PLUMB_ASSIGN(Bpe bpe, Bpe::create({.texts = tokens,
                                       .attributes = all_text,
                                       .merges = merges,
                                       .ignore_merges = options.ignore_merges,
                                       .texts_key = "model.vocab",
                                       .merges_key = "model.merges"}));
    out.model = std::make_unique<BytesModel>(std::move(bpe));
  } else {
    auto made = CharactersModel::create({tokens.begin(), tokens.end()}, merges, std::move(options));
    if (!made) return model.error(made.error().message, made.error().code);
    out.model = *std::move(made);
  }
  return out;
}

Result<ModelReading> read_unigram(const JsonNode& model, std::span<const std::string_view> tokens) {
  UnigramOptions options;
  if (const auto unknown = model.find("unk_id")) {
    PLUMB_ASSIGN(const uint64_t id, unknown->count());
    if (id >= tokens.size()) {
      return unknown->error("token " + std::to_string(id) + " of " + std::to_string(tokens.size()));
    }
    options.unknown_id = static_cast<int32_t>(id);
  }
  PLUMB_ASSIGN(options.byte_fallback, model.flag_at("byte_fallback", false));
  PLUMB_ASSIGN(const JsonNode vocab, model.at("vocab"));
  PLUMB_ASSIGN(std::vector<double> scores, read_scores(vocab));
  auto made = UnigramModel::create(tokens, std::move(scores), options);
  if (!made) return vocab.error(made.error().message, made.error().code);
  return ModelReading{*std::move(made), options.unknown_id};
}

Result<ModelReading> read_word_piece(const JsonNode& model,
                                     std::span<const std::string_view> tokens) {
  WordPieceOptions options;
  PLUMB_ASSIGN(const std::string_view unknown, model.text_at("unk_token"));
  PLUMB_ASSIGN(const std::string_view prefix, model.text_at("continuing_subword_prefix"));
  PLUMB_ASSIGN(const JsonNode longest, model.at("max_input_chars_per_word"));
  PLUMB_ASSIGN(options.longest_word, longest.count());
  options.unknown_id = id_of(tokens, unknown);
  options.continuing_prefix = prefix;
  const int32_t unknown_id = options.unknown_id;
  auto made = WordPieceModel::create(tokens, std::move(options));
  if (!made) return model.error("vocab: " + made.error().message, made.error().code);
  return ModelReading{*std::move(made), unknown_id};
}

}  // namespace

Result<ModelVocabulary> read_model_vocabulary(const JsonNode& model) {
  PLUMB_ASSIGN(const std::string_view type, type_of(model));
  PLUMB_ASSIGN(const JsonNode vocab, model.at("vocab"));
  return type == "Unigram" ? read_list(vocab) : read_object(vocab);
}

Result<ModelReading> read_model(const JsonNode& model, std::span<const std::string_view> tokens,
                                bool& reads_bytes) {
  PLUMB_ASSIGN(const std::string_view type, type_of(model));
  if (type == "BPE") return read_bpe(model, tokens, reads_bytes);
  reads_bytes = false;
  if (type == "Unigram") return read_unigram(model, tokens);
  if (type == "WordPiece") return read_word_piece(model, tokens);
  if (type == "WordLevel") {
    PLUMB_ASSIGN(const std::string_view unknown, model.text_at("unk_token"));
    const int32_t id = id_of(tokens, unknown);
    return ModelReading{std::make_unique<WordLevelModel>(tokens, id), id};
  }
  return model.error("the type \"" + std::string(type) + "\" is not known here", PLUMB_UNSUPPORTED);
}

}  // namespace plumbline::tokenizers::hf
