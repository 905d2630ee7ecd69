// patterns.h: the end of the word that begins at a position, one function for each public pattern.
#pragma once

#include "scan.h"

namespace plumbline::tokenizers::hf {

/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Source  GPT-2, encoder.py; tokenizers, pre_tokenizers/byte_level.rs.
inline size_t gpt2_end(const Text& text, size_t at) {
  if (const size_t end = contraction_end(text, at, false)) return end;
  const size_t begin = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
  const Character first = text.character(begin);
  if (first.is(kLetter)) return text.letters_end(first.end, kLetter);
  if (first.is(kNumber)) return text.run_end(first.end, kNumber);
  if (first.is(kSpace)) return space_end(text, at);
  return text.run_end_of_others(first.end, kLetter | kNumber | kSpace);
}

/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
///  ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
/// with {1,3} or {1} by kMaxDigits, and \p{L} as [\p{L}\p{M}] by kWordKinds.
/// Source  tokenizer.json of Llama 3 (three digits), Qwen2 and Qwen3 (one), Qwen3.5 (one, marks).
template <uint32_t kMaxDigits, uint8_t kWordKinds = kLetter>
size_t llama3_end(const Text& text, size_t at) {
  const Character first = text.character(at);
  if (first.is(kWordKinds)) return text.letters_end(first.end, kWordKinds);
  if (first.is(kNumber)) return numbers_end(text, at, kMaxDigits);
  if (const size_t end = contraction_end(text, at, true)) return end;
  if (first.kind != kNewline) {
    const Character second = text.character_or_none(first.end);
    if (second.is(kWordKinds)) return text.letters_end(second.end, kWordKinds);
    constexpr uint8_t kNoSign = kWordKinds | kNumber | kSpace;
    if (!first.is(kNoSign) || (text[at] == ' ' && first.end < text.size() && !second.is(kNoSign))) {
      return text.run_end(text.run_end_of_others(first.end, kNoSign), kNewline);
    }
  }
  return newline_or_space_end(text, at);
}

constexpr uint8_t kHead = kUpper | kCaseless | kMark;  // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
constexpr uint8_t kTail = kLower | kCaseless | kMark;  // [\p{Ll}\p{Lm}\p{Lo}\p{M}]

/// [head]*[tail]+ at `at`, greedy with the way back; 0 if it does not match.
inline size_t head_and_tail_end(const Text& text, size_t at) {
  size_t end = at;
  size_t behind_both = 0;  // of the last character that is head as well as tail
  while (end < text.size()) {
    const Character next = text.character(end);
    if (!next.is(kHead)) {
      if (next.is(kTail)) return text.lower_end(next.end, kTail);
      break;
    }
    end = next.end;
    if (next.is(kTail)) behind_both = end;
  }
  return behind_both;
}

/// [^\r\n\p{L}\p{N}]?[head]*[tail]+(?i:'s|...)?|[^\r\n\p{L}\p{N}]?[head]+[tail]*(?i:'s|...)?|
/// \p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
/// with {1,3} or {1} by kMaxDigits, and contractions or none.
/// Source  o200k_base of tiktoken, openai_public.py, and the tokenizer.json of GPT-4o and gpt-oss;
///         one digit and no contractions: tokenizer.json of Mistral Nemo (tekken).
template <uint32_t kMaxDigits, bool kContractions>
size_t o200k_end(const Text& text, size_t at) {
  const Character first = text.character(at);
  if (first.is(kNumber)) return numbers_end(text, at, kMaxDigits);
  const auto with_contraction = [&](size_t end) {
    if (!kContractions) return end;
    const size_t longer = contraction_end(text, end, true);
    return longer != 0 ? longer : end;
  };
  const bool is_prefix = !first.is(kNewline | kLetter | kNumber);
  if (first.is(kLetter | kMark) || is_prefix) {
    const size_t begin = is_prefix ? first.end : at;
    const Character word = text.character_or_none(begin);
    if (word.is(kLetter | kMark)) {
      size_t end = head_and_tail_end(text, begin);
      if (end == 0 && first.is(kMark))
        end = head_and_tail_end(text, at);  // a mark is no prefix then
      if (end == 0) end = text.run_end(begin, kHead);  // head alone: no tail follows it
      return with_contraction(end);
    }
    if (first.is(kMark)) return with_contraction(first.end);
  }
  constexpr uint8_t kNoSign = kLetter | kNumber | kSpace;
  const bool is_sign = !first.is(kNoSign);
  if (is_sign ||
      (text[at] == ' ' && first.end < text.size() && !text.character(first.end).is(kNoSign))) {
    size_t end = text.run_end_of_others(first.end, kNoSign);
    while (text.peek(end) == '/' || text.peek(end) == '\r' || text.peek(end) == '\n') ++end;
    return end;
  }
  return newline_or_space_end(text, at);
}

/// Where the part of the text ends that gpt2_end may see after \p{N}: every number alone, and what
/// lies between.
size_t digits_region_end(const Text& text, size_t at);

/// Where the part of the text ends that deepseek_end may see: \p{N}{1,3}, then
/// [一-龥぀-ゟ゠-ヿ]+, then what lies between. Source  tokenizer.json of DeepSeek-V3, the
/// first two of its three splits.
size_t deepseek_region_end(const Text& text, size_t at);

/// [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
///  ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ ; what matches nothing is a word up to the next
/// match.
/// Source  tokenizer.json of DeepSeek-V3, the last of its three splits.
size_t deepseek_end(const Text& text, size_t at);

/// What llama.cpp does for files that name no pre-tokenizer: four splits, one after the other:
/// [\p{P}\$\+<=>\^~\|]+ then gpt2_end, then \p{N}+, then [0-9][0-9][0-9].
/// Source  llama.cpp, src/llama-vocab.cpp, the default of llm_tokenizer_bpe.
class DefaultWords {
 public:
  size_t next_end(const Text& text, size_t at);

 private:
  // Where the outcomes of the splits end: each is cut again by the next one.
  size_t region_end_ = 0;
  size_t word_end_ = 0;
  size_t run_end_ = 0;
};

}  // namespace plumbline::tokenizers::hf
