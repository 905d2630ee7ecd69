#include <array>

#include "core/diff/text_signatures/json_values.h"
#include "core/diff/text_signatures/metadata.h"
#include "core/diff/text_signatures/tokens.h"

namespace plumbline::diff {
namespace {

constexpr const char* kNormalizers = "normalizers";
constexpr const char* kPreTokenizers = "pretokenizers";

std::string type_of(const Json& step) {
  return text_at(step, "type");
}

Json step(const char* type) {
  Json made = Json::object();
  made["type"] = type;
  return made;
}

Json replace_step(const Json& pattern, const char* content) {
  Json made = step("Replace");
  made["pattern"] = pattern;
  made["content"] = content;
  return made;
}
Json regex(const char* text) {
  return Json::object({{"Regex", text}});
}
Json literal(const char* text) {
  return Json::object({{"String", text}});
}

/// The normalizer of A with steps put in, taken out or exchanged.
class Normaliser {
 public:
  Normaliser(const TokenEvidence& evidence, const TokenizerJson& file, TokenHypotheses& out)
      : evidence_(evidence),
        out_(out),
        steps_(steps_of(file.section({"normalizer"}), kNormalizers)) {}

  void add_all() {
    add_missing();
    for (size_t i = 0; i < steps_.size(); ++i) add_changed(i);
    for (const char* form : {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"})
      add_both_ends("normaliser_wrong", std::string("B's normaliser also applies ") + form,
                    {step(form)});
    add_both_ends("normaliser_wrong", "B's normaliser also strips accents",
                  {step("NFD"), step("StripAccents")});
    add_rewritings();
  }

 private:
  void add(const char* signature, std::string statement, const std::vector<Json>& steps) {
    out_.push_back(json_hypothesis(evidence_, signature, std::move(statement), {"normalizer"},
                                   section_of(steps, kNormalizers)));
  }

  bool is_prefix(size_t i) const { return type_of(steps_[i]) == "Prepend"; }

  void add_missing() {
    if (steps_.empty() || (steps_.size() == 1 && is_prefix(0))) return;
    add("normaliser_missing", "B has none of A's normaliser", {});
  }

  void add_changed(size_t i) {
    const std::string type = type_of(steps_[i]);
    if (is_prefix(i)) return;  // a prefix has its own signatures
    if (steps_.size() > 1) {
      std::vector<Json> fewer = steps_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      add("normaliser_wrong", "B's normaliser lacks A's step " + type, fewer);
    }
    for (const char* form : {"NFC", "NFD", "NFKC", "NFKD"}) {
      if (!type.starts_with("NF") || type == form) continue;
      std::vector<Json> other = steps_;
      other[i] = step(form);
      add("normaliser_wrong", "B's normaliser applies " + std::string(form) + ", A's " + type,
          other);
    }
    if (type != "BertNormalizer") return;
    for (const char* flag : {"lowercase", "strip_accents", "handle_chinese_chars", "clean_text"}) {
      std::vector<Json> other = steps_;
      // An accent rule that is not stated follows the case.
      const bool is_on = flag_at(steps_[i], flag, flag_at(steps_[i], "lowercase", false));
      other[i][flag] = !is_on;
      add("normaliser_wrong",
          "B's normaliser has " + std::string(flag) + (is_on ? " off" : " on") + ", A's not",
          other);
    }
  }

  void add_both_ends(const char* signature, const std::string& statement,
                     const std::vector<Json>& more) {
    std::vector<Json> steps = more;
    steps.insert(steps.end(), steps_.begin(), steps_.end());
    add(signature, statement, steps);
    if (steps_.empty()) return;
    steps = steps_;
    steps.insert(steps.end(), more.begin(), more.end());
    add(signature, statement, steps);
  }

  void add_rewritings() {
    const auto in_front = [&](const char* signature, std::string statement,
                              const std::vector<Json>& more) {
      std::vector<Json> steps = more;
      steps.insert(steps.end(), steps_.begin(), steps_.end());
      add(signature, std::move(statement), steps);
    };
    in_front("line_ends_changed", "B reads \\r\\n as \\n", {replace_step(literal("\r\n"), "\n")});
    in_front("line_ends_changed", "B reads \\r\\n and \\r as \\n",
             {replace_step(regex("\\r\\n?"), "\n")});
    in_front("line_ends_changed", "B reads \\n as \\r\\n", {replace_step(literal("\n"), "\r\n")});
    for (const char* white : {"\\s+", " +", " {2,}", "[ \\t]+"})
      in_front("white_space_collapsed", std::string("B makes one space of ") + white,
               {replace_step(regex(white), " ")});
    Json strip = step("Strip");
    strip["strip_left"] = strip["strip_right"] = true;
    in_front("white_space_collapsed", "B makes one space of white space and strips the ends",
             {replace_step(regex("\\s+"), " "), strip});
    for (const char* mark : {"?", "\ufffd", ""})
      in_front("unicode_replaced", std::string("B reads what is no ASCII as \"") + mark + "\"",
               {replace_step(regex("[^\\x00-\\x7F]"), mark)});
    in_front(
        "unicode_replaced", "B reads typographic quotes and dashes as ASCII",
        {replace_step(regex("[\u2018\u2019]"), "'"), replace_step(regex("[\u201c\u201d]"), "\""),
         replace_step(regex("[\u2013\u2014]"), "-")});
  }

  const TokenEvidence& evidence_;
  TokenHypotheses& out_;
  std::vector<Json> steps_;
};

/// What stands in front of a text, in whichever section the file says it.
void add_prefix_space(const TokenEvidence& evidence, const TokenizerJson& file,
                      TokenHypotheses& out) {
  const auto add = [&](bool is_lost, const char* section, const char* list,
                       const std::vector<Json>& steps) {
    out.push_back(json_hypothesis(evidence, is_lost ? "prefix_space_lost" : "prefix_space_added",
                                  is_lost ? "B puts no space in front of a text, as A does"
                                          : "B puts a space in front of a text, A does not",
                                  {section}, section_of(steps, list)));
  };
  const std::vector<Json> normalizers = steps_of(file.section({"normalizer"}), kNormalizers);
  bool has_prepend = false;
  bool has_mark = false;
  for (size_t i = 0; i < normalizers.size(); ++i) {
    has_mark |= text_at(normalizers[i], "content") == "\u2581";
    if (type_of(normalizers[i]) != "Prepend") continue;
    has_prepend = true;
    std::vector<Json> fewer = normalizers;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    add(true, "normalizer", kNormalizers, fewer);
  }
  if (!has_prepend && has_mark) {
    std::vector<Json> more = normalizers;
    Json prepend = step("Prepend");
    prepend["prepend"] = "\u2581";
    more.insert(more.begin(), prepend);
    add(false, "normalizer", kNormalizers, more);
  }
  const std::vector<Json> cuts = steps_of(file.section({"pre_tokenizer"}), kPreTokenizers);
  for (size_t i = 0; i < cuts.size(); ++i) {
    const std::string type = type_of(cuts[i]);
    std::vector<Json> other = cuts;
    if (type == "ByteLevel") {
      const bool is_lost = flag_at(cuts[i], "add_prefix_space", true);
      other[i]["add_prefix_space"] = !is_lost;
      add(is_lost, "pre_tokenizer", kPreTokenizers, other);
    } else if (type == "Metaspace") {
      const std::string scheme = text_at(cuts[i], "prepend_scheme", "always");
      other[i].erase("add_prefix_space");
      for (const char* wanted : {"always", "first", "never"}) {
        if (scheme == wanted) continue;
        other[i]["prepend_scheme"] = wanted;
        // Fewer places: never < first < always.
        const bool is_lost = std::string_view(wanted) == "never" || scheme == "always";
        add(is_lost, "pre_tokenizer", kPreTokenizers, other);
      }
    }
  }
}

/// Source  the published tokenizer.json files of these models.
struct KnownPattern {
  const char* name;
  const char* regex;
};
constexpr std::array kPatterns = {
    KnownPattern{"GPT-2",
                 R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    KnownPattern{
        "Llama 3",
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    KnownPattern{
        "Qwen 2",
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    KnownPattern{
        "GPT-4o",
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    KnownPattern{
        "Tekken",
        R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};

void add_pre_tokenizer(const TokenEvidence& evidence, const TokenizerJson& file,
                       TokenHypotheses& out) {
  const std::vector<Json> steps = steps_of(file.section({"pre_tokenizer"}), kPreTokenizers);
  if (steps.empty()) return;
  const auto add = [&](std::string statement, const std::vector<Json>& changed) {
    out.push_back(json_hypothesis(evidence, "pre_tokenizer_wrong", std::move(statement),
                                  {"pre_tokenizer"}, section_of(changed, kPreTokenizers)));
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    std::vector<Json> other = steps;
    const Json* const given = member_of(steps[i], "pattern");
    const std::string pattern = given == nullptr ? "" : text_at(*given, "Regex");
    const auto exchange = [&](std::string_view old, std::string_view with, const char* statement) {
      const size_t at = pattern.find(old);
      if (at == std::string::npos) return;
      other[i]["pattern"]["Regex"] = std::string(pattern).replace(at, old.size(), with);
      add(statement, other);
    };
    exchange("\\p{N}{1,3}", "\\p{N}", "B cuts numbers into single digits, A into groups of three");
    if (pattern.find("\\p{N}{1,3}") == std::string::npos)
      exchange("\\p{N}", "\\p{N}{1,3}",
               "B cuts numbers into groups of three, A into single digits");
    if (steps.size() > 1 && type_of(steps[i]) != "ByteLevel" && type_of(steps[i]) != "Metaspace") {
      other = steps;
      other.erase(other.begin() + static_cast<std::ptrdiff_t>(i));
      add("B lacks A's pre-tokenizer " + type_of(steps[i]), other);
    }
  }
  const auto add_in_front = [&](std::string statement, const Json& first) {
    std::vector<Json> more = steps;
    more.insert(more.begin(), first);
    add(std::move(statement), more);
  };
  Json digits = step("Digits");
  digits["individual_digits"] = true;
  add_in_front("B also cuts numbers into single digits", digits);
  digits["individual_digits"] = false;
  add_in_front("B also cuts numbers off", digits);
  Json punctuation = step("Punctuation");
  punctuation["behavior"] = "Isolated";
  add_in_front("B also cuts punctuation off", punctuation);
  add_in_front("B also cuts at white space and drops it", step("WhitespaceSplit"));
  add("B cuts by BERT's rules", {step("BertPreTokenizer")});
  add("B cuts at white space alone", {step("WhitespaceSplit")});
  add("B cuts words and punctuation", {step("Whitespace")});
  if (type_of(steps.back()) == "Metaspace") {
    std::vector<Json> other = steps;
    other.back()["split"] = !flag_at(steps.back(), "split", true);
    add("B's Metaspace cuts where A's does not, or the other way round", other);
  }
  if (type_of(steps.back()) != "ByteLevel") return;
  Json bytes = steps.back();
  bytes["use_regex"] = false;
  add("B cuts no words", std::vector<Json>{bytes});
  for (const KnownPattern& known : kPatterns) {
    Json split = step("Split");
    split["pattern"] = regex(known.regex);
    split["behavior"] = "Isolated";
    split["invert"] = false;
    add("B cuts words by the pattern of " + std::string(known.name), {split, bytes});
  }
}

}  // namespace

void add_json_hypotheses(const TokenEvidence& evidence, TokenHypotheses& out) {
  const TokenizerJson file(text_of(*evidence.metadata_a, kTokenizerJsonKey));
  if (file.raw({"model"}).empty()) return;
  Normaliser(evidence, file, out).add_all();
  add_prefix_space(evidence, file, out);
  add_pre_tokenizer(evidence, file, out);
  add_model_hypotheses(evidence, file, out);
}

}  // namespace plumbline::diff
