#include "json_steps.h"
#include "unicode.h"

namespace plumbline::tokenizers::hf {
namespace {

/// Collects steps; neighbours that only cut are tried as one hand-written splitter.
class SplitterBuilder {
 public:
  explicit SplitterBuilder(SplitterReading& out) : out_(out) {}

  Result<void> add(const JsonNode& node);
  Result<void> end_cuts();

 private:
  /// A pattern whose matches are words, and what lies between too.
  struct Cut {
    std::string regex;
    std::optional<JsonNode> pattern;  ///< where the file has it, to be compiled
    SplitStepPtr otherwise;  ///< what does the same, if it has not
  };

  Result<void> add_sequence(const JsonNode& node);
  Result<void> add_byte_level(const JsonNode& node);
  Result<void> add_split(const JsonNode& node);
  Result<void> add_metaspace(const JsonNode& node);
  Result<void> add_fixed_length(const JsonNode& node);
  Result<void> add_step(SplitStepPtr step) {
    PLUMB_TRY(end_cuts());
    out_.splitter.add(std::move(step));
    return {};
  }
  Result<void> begin_step() {
    if (!out_.ends_in_bytes) return {};
    out_.ends_in_bytes = false;
    return add_step(byte_alphabet_split_step());
  }

  SplitterReading& out_;
  std::vector<Cut> cuts_;
};

Result<void> SplitterBuilder::end_cuts() {
  std::vector<std::string_view> regexes;
  for (const Cut& cut : cuts_) regexes.push_back(cut.regex);
  if (const Pattern* all = regexes.empty() ? nullptr : find_pattern(regexes)) {
    out_.splitter.add(pattern_step(all));
  } else {
    for (Cut& cut : cuts_) {
      if (const Pattern* one = find_pattern(cut.regex)) {
        out_.splitter.add(pattern_step(one));
      } else if (cut.pattern) {
        PLUMB_ASSIGN(Finder finder, read_finder(*cut.pattern));
        out_.splitter.add(finder_step(std::move(finder), Behaviour::kIsolated, false));
      } else {
        out_.splitter.add(std::move(cut.otherwise));
      }
    }
  }
  cuts_.clear();
  return {};
}

Result<Behaviour> read_behaviour(const JsonNode& node) {
  PLUMB_ASSIGN(const std::string_view name, node.text());
  if (name == "Isolated") return Behaviour::kIsolated;
  if (name == "Removed") return Behaviour::kRemoved;
  if (name == "MergedWithPrevious") return Behaviour::kMergedWithPrevious;
  if (name == "MergedWithNext") return Behaviour::kMergedWithNext;
  if (name == "Contiguous") return Behaviour::kContiguous;
  return node.error("\"" + std::string(name) +
                    "\", Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous "
                    "expected");
}

Result<void> SplitterBuilder::add_sequence(const JsonNode& node) {
  PLUMB_ASSIGN(const JsonNode list, node.at("pretokenizers"));
  PLUMB_ASSIGN(const std::vector<JsonNode> items, list.items());
  for (const JsonNode& one : items) PLUMB_TRY(add(one));
  return {};
}

Result<void> SplitterBuilder::add_byte_level(const JsonNode& node) {
  PLUMB_ASSIGN(const bool has_prefix, node.flag_at("add_prefix_space"));
  PLUMB_ASSIGN(const bool cuts, node.flag_at("use_regex", true));
  if (has_prefix) PLUMB_TRY(add_step(prefix_space_step()));
  if (cuts) cuts_.push_back({std::string(kGpt2Regex), std::nullopt, nullptr});
  out_.ends_in_bytes = true;
  return {};
}

Result<void> SplitterBuilder::add_split(const JsonNode& node) {
  PLUMB_ASSIGN(const JsonNode pattern, node.at("pattern"));
  PLUMB_ASSIGN(const JsonNode how, node.at("behavior"));
  PLUMB_ASSIGN(const Behaviour behaviour, read_behaviour(how));
  PLUMB_ASSIGN(const bool is_inverted, node.flag_at("invert"));
  PLUMB_ASSIGN(const std::string_view regex, pattern.text_at("Regex", ""));
  const Pattern* known = find_pattern(regex);
  const bool keeps_all = behaviour == Behaviour::kIsolated
                             ? !is_inverted
                             : behaviour == Behaviour::kRemoved && is_inverted &&
                                   known != nullptr && matches_all(*known);
  if (!regex.empty() && keeps_all) {
    cuts_.push_back({std::string(regex), pattern, nullptr});
    return {};
  }
  PLUMB_ASSIGN(Finder finder, read_finder(pattern));
  return add_step(finder_step(std::move(finder), behaviour, is_inverted));
}

Result<void> SplitterBuilder::add_metaspace(const JsonNode& node) {
  PLUMB_ASSIGN(const JsonNode replacement, node.at("replacement"));
  PLUMB_ASSIGN(const char32_t mark, replacement.character());
  PLUMB_ASSIGN(const std::string_view name, node.text_at("prepend_scheme", "always"));
  PLUMB_ASSIGN(const bool has_prefix, node.flag_at("add_prefix_space", true));
  PLUMB_ASSIGN(const bool splits, node.flag_at("split", true));
  PrependScheme scheme = PrependScheme::kNever;
  if (name == "always") {
    scheme = PrependScheme::kAlways;
  } else if (name == "first") {
    scheme = PrependScheme::kFirst;
  } else if (name != "never") {
    return node.error("prepend_scheme \"" + std::string(name) +
                      "\", always, first or never expected");
  }
  if (!has_prefix && scheme != PrependScheme::kNever && node.find("prepend_scheme"))
    return node.error("add_prefix_space contradicts prepend_scheme");
  return add_step(metaspace_step(mark, has_prefix ? scheme : PrependScheme::kNever, splits));
}

Result<void> SplitterBuilder::add_fixed_length(const JsonNode& node) {
  constexpr uint64_t kDefault = 5;
  const auto length = node.find("length");
  PLUMB_ASSIGN(const uint64_t n, length ? length->count() : Result<uint64_t>(kDefault));
  if (n == 0) return node.error("length 0");
  return add_step(fixed_length_step(n));
}

Result<void> SplitterBuilder::add(const JsonNode& node) {
  PLUMB_ASSIGN(const std::string_view type, node.text_at("type"));
  if (type == "Sequence") return add_sequence(node);
  PLUMB_TRY(begin_step());
  if (type == "ByteLevel") return add_byte_level(node);
  if (type == "Split") return add_split(node);
  if (type == "Metaspace") return add_metaspace(node);
  if (type == "FixedLength") return add_fixed_length(node);
  if (type == "Whitespace") return add_step(word_step());
  if (type == "UnicodeScripts") return add_step(script_step());
  if (type == "WhitespaceSplit")
    return add_step(character_step(is_white_space, Behaviour::kRemoved));
  if (type == "BertPreTokenizer") {
    PLUMB_TRY(add_step(character_step(is_white_space, Behaviour::kRemoved)));
    return add_step(character_step(is_bert_punctuation, Behaviour::kIsolated));
  }
  if (type == "Punctuation") {
    const auto how = node.find("behavior");
    PLUMB_ASSIGN(const Behaviour behaviour,
                 how ? read_behaviour(*how) : Result<Behaviour>(Behaviour::kIsolated));
    return add_step(character_step(is_bert_punctuation, behaviour));
  }
  if (type == "Digits") {
    PLUMB_ASSIGN(const bool is_individual, node.flag_at("individual_digits"));
    if (!is_individual) return add_step(character_step(is_numeric, Behaviour::kContiguous));
    cuts_.push_back(
        {std::string(kDigitRegex), std::nullopt, character_step(is_numeric, Behaviour::kIsolated)});
    return {};
  }
  if (type == "CharDelimiterSplit") {
    PLUMB_ASSIGN(const JsonNode delimiter, node.at("delimiter"));
    PLUMB_ASSIGN(const char32_t c, delimiter.character());
    return add_step(delimiter_step(c));
  }
  return node.error("the pre-tokenizer \"" + std::string(type) + "\" is not known here",
                    PLUMB_UNSUPPORTED);
}

}  // namespace

Result<void> read_splitter(const JsonNode& node, SplitterReading& out) {
  SplitterBuilder builder(out);
  PLUMB_TRY(builder.add(node));
  return builder.end_cuts();
}

}  // namespace plumbline::tokenizers::hf
