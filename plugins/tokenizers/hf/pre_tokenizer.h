// pre_tokenizer.h: which splitter a model file asks for, by name or by its regular expressions.
#pragma once

#include <span>
#include <string_view>

#include "words/cursor.h"

namespace plumbline::tokenizers::hf {

/// What a value of tokenizer.ggml.pre means.
struct PreTokenizer {
  std::string_view name;
  Pattern pattern;
  bool nfc = false;  ///< text is brought into NFC first
  bool ignore_merges = false;  ///< a word that is a token is that token, whatever the merges say
  bool add_bos = false;  ///< if the file does not say
};

/// Null if the name is unknown. The empty name is "default".
const PreTokenizer* find_pre_tokenizer(std::string_view name);

/// The splitter of Splits that have these regular expressions, in this order and to the letter as
/// public files write them, with the behaviour "Isolated" (or "Removed" and inverted, where they
/// match every character: matches_all); null: there is none. ByteLevel with use_regex stands for
/// kGpt2Regex, Digits with individual_digits for kDigitRegex.
const Pattern* find_pattern(std::span<const std::string_view> regexes);
inline const Pattern* find_pattern(std::string_view regex) {
  return find_pattern(std::span(&regex, 1));
}

/// True if the pattern leaves no character of any text unmatched.
bool matches_all(Pattern pattern);

constexpr std::string_view kGpt2Regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDigitRegex = R"(\p{N})";

}  // namespace plumbline::tokenizers::hf
