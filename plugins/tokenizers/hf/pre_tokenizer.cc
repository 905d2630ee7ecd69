#include "pre_tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

/// What the patterns tell apart: \p{L}, \p{M}, \p{N}, \s but [\r\n], [\r\n], all else.
enum class Class : uint8_t { kLetter, kMark, kNumber, kBlank, kNewline, kOther };

constexpr std::array<Class, 128> make_ascii_classes() {
  std::array<Class, 128> classes{};
  for (uint32_t c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    classes[c] = letter                                 ? Class::kLetter
                 : c >= '0' && c <= '9'                 ? Class::kNumber
                 : c == '\r' || c == '\n'               ? Class::kNewline
                 : c == ' ' || (c >= '\t' && c <= '\r') ? Class::kBlank
                                                        : Class::kOther;
  }
  return classes;
}
constexpr std::array<Class, 128> kAsciiClasses = make_ascii_classes();

/// Letters, marks and numbers of Unicode 15.1 and 16, and numbers of 17, which the tokenizers
/// library knows and utf8proc 2.8 (Unicode 15) does not. In ascending order.
struct LaterRange {
  char32_t first;
  char32_t last;
  Class kind;
};
constexpr LaterRange kLaterRanges[] = {
    {0x897, 0x897, Class::kMark},       {0x1C89, 0x1C8A, Class::kLetter},
    {0xA7CB, 0xA7CD, Class::kLetter},   {0xA7DA, 0xA7DC, Class::kLetter},
    {0x105C0, 0x105F3, Class::kLetter}, {0x10D40, 0x10D49, Class::kNumber},
    {0x10D4A, 0x10D65, Class::kLetter}, {0x10D69, 0x10D6D, Class::kMark},
    {0x10D6F, 0x10D85, Class::kLetter}, {0x10EC2, 0x10EC4, Class::kLetter},
    {0x10EFC, 0x10EFC, Class::kMark},   {0x11380, 0x11389, Class::kLetter},
    {0x1138B, 0x1138B, Class::kLetter}, {0x1138E, 0x1138E, Class::kLetter},
    {0x11390, 0x113B5, Class::kLetter}, {0x113B7, 0x113B7, Class::kLetter},
    {0x113B8, 0x113C0, Class::kMark},   {0x113C2, 0x113C2, Class::kMark},
    {0x113C5, 0x113C5, Class::kMark},   {0x113C7, 0x113CA, Class::kMark},
    {0x113CC, 0x113D0, Class::kMark},   {0x113D1, 0x113D1, Class::kLetter},
    {0x113D2, 0x113D2, Class::kMark},   {0x113D3, 0x113D3, Class::kLetter},
    {0x113E1, 0x113E2, Class::kMark},   {0x116D0, 0x116E3, Class::kNumber},
    {0x11BC0, 0x11BE0, Class::kLetter}, {0x11BF0, 0x11BF9, Class::kNumber},
    {0x11DE0, 0x11DE9, Class::kNumber}, {0x11F5A, 0x11F5A, Class::kMark},
    {0x13460, 0x143FA, Class::kLetter}, {0x16100, 0x1611D, Class::kLetter},
    {0x1611E, 0x1612F, Class::kMark},   {0x16130, 0x16139, Class::kNumber},
    {0x16D40, 0x16D6C, Class::kLetter}, {0x16D70, 0x16D79, Class::kNumber},
    {0x16FF4, 0x16FF6, Class::kNumber}, {0x18CFF, 0x18CFF, Class::kLetter},
    {0x1CCF0, 0x1CCF9, Class::kNumber}, {0x1E5D0, 0x1E5ED, Class::kLetter},
    {0x1E5EE, 0x1E5EF, Class::kMark},   {0x1E5F0, 0x1E5F0, Class::kLetter},
    {0x1E5F1, 0x1E5FA, Class::kNumber}, {0x2EBF0, 0x2EE5D, Class::kLetter},
};

Class class_of_unassigned(char32_t c) {
  const auto found =
      std::lower_bound(std::begin(kLaterRanges), std::end(kLaterRanges), c,
                       [](const LaterRange& range, char32_t point) { return range.last < point; });
  return found != std::end(kLaterRanges) && found->first <= c ? found->kind : Class::kOther;
}

Class class_of(char32_t c) {
  if (c == 0x85) return Class::kBlank;  // a control character that Unicode counts as white space
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Class::kLetter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return Class::kMark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Class::kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Class::kBlank;
    case UTF8PROC_CATEGORY_CN:
      return class_of_unassigned(c);
    default:
      return Class::kOther;
  }
}

struct Character {
  Class kind;
  size_t end;
};

Character character_at(std::string_view text, size_t at) {
  const uint8_t lead = static_cast<uint8_t>(text[at]);
  if (lead < 128) return {kAsciiClasses[lead], at + 1};
  const utf8::Decoded next = utf8::decode(text, at);
  return {class_of(next.code_point), at + next.n_bytes};
}

bool is_space(Class kind) {
  return kind == Class::kBlank || kind == Class::kNewline;
}

/// The end of the longest run of characters from `at` on that satisfy `accept`.
template <typename Accept>
size_t run_end(std::string_view text, size_t at, const Accept& accept) {
  while (at < text.size()) {
    const Character next = character_at(text, at);
    if (!accept(next.kind)) break;
    at = next.end;
  }
  return at;
}

/// 's 't 're 've 'm 'll 'd at `at`; 0 if none. With fold_case as (?i:...), where U+017F is an s.
size_t contraction_end(std::string_view text, size_t at, bool fold_case) {
  if (text[at] != '\'' || at + 1 >= text.size()) return 0;
  const auto letter = [&](size_t i) -> char {
    if (i >= text.size()) return 0;
    const char c = text[i];
    return fold_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  if (fold_case && text.substr(at + 1, 2) == "\u017F") return at + 3;
  const char second = letter(at + 2);
  switch (letter(at + 1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return at + 2;
    case 'r':
    case 'v':
      return second == 'e' ? at + 3 : 0;
    case 'l':
      return second == 'l' ? at + 3 : 0;
    default:
      return 0;
  }
}

/// \s+(?!\S)|\s+ : all of a run at the text's end, else all but its last character, which goes with
/// what follows.
size_t space_end(std::string_view text, size_t at) {
  size_t last_begin = at;
  size_t end = at;
  while (end < text.size()) {
    const Character next = character_at(text, end);
    if (!is_space(next.kind)) return last_begin > at ? last_begin : end;
    last_begin = end;
    end = next.end;
  }
  return end;
}

/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// Source  GPT-2, encoder.py; tokenizers, pre_tokenizers/byte_level.rs.
size_t gpt2_end(std::string_view text, size_t at) {
  if (const size_t end = contraction_end(text, at, false)) return end;
  size_t begin = at;
  if (text[at] == ' ' && at + 1 < text.size()) begin = at + 1;
  switch (character_at(text, begin).kind) {
    case Class::kLetter:
      return run_end(text, begin, [](Class c) { return c == Class::kLetter; });
    case Class::kNumber:
      return run_end(text, begin, [](Class c) { return c == Class::kNumber; });
    case Class::kMark:
    case Class::kOther:
      return run_end(text, begin, [](Class c) { return c == Class::kOther || c == Class::kMark; });
    default:
      return space_end(text, at);
  }
}

/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
///  ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
/// with {1,3} or {1} by max_digits, and \p{L} as [\p{L}\p{M}] where marks are letters.
///
/// Source  tokenizer.json of Llama 3 (three digits), Qwen2 and Qwen3 (one), Qwen3.5 (one, marks).
size_t modern_end(std::string_view text, size_t at, uint32_t max_digits, bool marks_are_letters) {
  if (const size_t end = contraction_end(text, at, true)) return end;
  const auto is_letter = [&](Class c) {
    return c == Class::kLetter || (marks_are_letters && c == Class::kMark);
  };
  const auto is_other = [&](Class c) {
    return c == Class::kOther || (!marks_are_letters && c == Class::kMark);
  };
  const Character first = character_at(text, at);

  if (first.kind == Class::kNumber) {
    size_t end = first.end;
    for (uint32_t n = 1; n < max_digits && end < text.size(); ++n) {
      const Character next = character_at(text, end);
      if (next.kind != Class::kNumber) break;
      end = next.end;
    }
    return end;
  }
  const bool more = first.end < text.size();
  const Class second = more ? character_at(text, first.end).kind : Class::kNewline;
  if (is_letter(first.kind) || (first.kind != Class::kNewline && is_letter(second))) {
    return run_end(text, first.end, is_letter);
  }
  if (is_other(first.kind) || (text[at] == ' ' && is_other(second))) {
    const size_t end = run_end(text, first.end, is_other);
    return run_end(text, end, [](Class c) { return c == Class::kNewline; });
  }
  // White space: up to its last newline, if it has one.
  size_t after_newline = 0;
  for (size_t end = at; end < text.size();) {
    const Character next = character_at(text, end);
    if (!is_space(next.kind)) break;
    end = next.end;
    if (next.kind == Class::kNewline) after_newline = end;
  }
  return after_newline != 0 ? after_newline : space_end(text, at);
}

/// [\p{P}$+<=>^~|]
bool is_default_punctuation(std::string_view text, size_t at) {
  const char32_t c = utf8::decode(text, at).code_point;
  if (c == '$' || c == '+' || c == '<' || c == '=' || c == '>' || c == '^' || c == '~' || c == '|')
    return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return true;
    default:
      return false;
  }
}

/// The end of the run from `at` on whose characters all do, or all do not, satisfy `belongs(text,
/// at)`.
template <typename Belongs>
size_t same_end(std::string_view text, size_t at, const Belongs& belongs) {
  const bool wanted = belongs(text, at);
  size_t end = at;
  while (end < text.size() && belongs(text, end) == wanted) end = character_at(text, end).end;
  return end;
}

bool is_number(std::string_view text, size_t at) {
  return character_at(text, at).kind == Class::kNumber;
}

bool has_three_digits(std::string_view text, size_t at) {
  const auto digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  return at + 3 <= text.size() && digit(at) && digit(at + 1) && digit(at + 2);
}

/// [0-9][0-9][0-9], or what lies before the next one.
size_t three_digits_end(std::string_view text, size_t at) {
  if (has_three_digits(text, at)) return at + 3;
  while (at < text.size() && !has_three_digits(text, at)) at = character_at(text, at).end;
  return at;
}

// Source  llama.cpp, src/llama-vocab.cpp, for the names that share a pattern, ignore_merges and
// add_bos;
//         NFC: the tokenizer.json of Qwen2 to Qwen3 has it as its normaliser.
constexpr PreTokenizer kPreTokenizers[] = {
    {.name = "default", .pattern = Pattern::kDefault},
    {.name = "gpt-2", .pattern = Pattern::kGpt2},
    {.name = "phi-2", .pattern = Pattern::kGpt2},
    {.name = "jina-es", .pattern = Pattern::kGpt2},
    {.name = "jina-de", .pattern = Pattern::kGpt2},
    {.name = "jina-v2-es", .pattern = Pattern::kGpt2},
    {.name = "jina-v2-de", .pattern = Pattern::kGpt2},
    {.name = "gigachat", .pattern = Pattern::kGpt2},
    {.name = "a.x-4.0", .pattern = Pattern::kGpt2},
    {.name = "mellum", .pattern = Pattern::kGpt2},
    {.name = "exaone4", .pattern = Pattern::kGpt2},
    {.name = "jais", .pattern = Pattern::kGpt2},
    {.name = "trillion", .pattern = Pattern::kGpt2},
    {.name = "granite-docling", .pattern = Pattern::kGpt2},
    {.name = "smollm", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "starcoder", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "refact", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "codeshell", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "exaone", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "minerva-7b", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "mellum2", .pattern = Pattern::kDigitsThenGpt2},
    {.name = "llama-bpe", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "llama3", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "llama-v3", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "falcon3", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "falcon-h1", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "pixtral", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "midm-2.0", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "lfm2", .pattern = Pattern::kLlama3, .ignore_merges = true, .add_bos = true},
    {.name = "dbrx", .pattern = Pattern::kLlama3},
    {.name = "smaug-bpe", .pattern = Pattern::kLlama3},
    {.name = "glm4", .pattern = Pattern::kLlama3},
    {.name = "chatglm-bpe", .pattern = Pattern::kLlama3},
    {.name = "qwen2", .pattern = Pattern::kQwen2, .nfc = true},
    {.name = "qwen35", .pattern = Pattern::kQwen35, .nfc = true},
    {.name = "deepseek-r1-qwen", .pattern = Pattern::kQwen2},
    {.name = "kormo", .pattern = Pattern::kQwen2},
    {.name = "f2llmv2", .pattern = Pattern::kQwen2},
    {.name = "megrez", .pattern = Pattern::kQwen2},
    {.name = "stablelm2", .pattern = Pattern::kQwen2},
    {.name = "hunyuan", .pattern = Pattern::kQwen2},
    {.name = "solar-open", .pattern = Pattern::kQwen2},
    {.name = "grok-2", .pattern = Pattern::kQwen2},
};

struct KnownRegex {
  std::string_view regex;
  Pattern pattern;
};
constexpr KnownRegex kKnownRegexes[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
     Pattern::kGpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Pattern::kLlama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
     R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Pattern::kQwen2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
     R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     Pattern::kQwen35},
};

}  // namespace

const Pattern* find_pattern(std::string_view regex) {
  const auto found = std::find_if(std::begin(kKnownRegexes), std::end(kKnownRegexes),
                                  [&](const KnownRegex& row) { return row.regex == regex; });
  return found == std::end(kKnownRegexes) ? nullptr : &found->pattern;
}

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  if (name.empty()) name = "default";
  const auto found = std::find_if(std::begin(kPreTokenizers), std::end(kPreTokenizers),
                                  [&](const PreTokenizer& row) { return row.name == name; });
  return found == std::end(kPreTokenizers) ? nullptr : found;
}

bool WordCursor::next(size_t* begin, size_t* end) {
  if (at_ == text_.size()) return false;
  if (at_ == region_end_) region_end_ = next_region();
  *begin = at_;
  at_ = *end = next_word();
  return true;
}

/// Where the part of the text ends that the main pattern sees as a whole: its lookahead stops
/// there.
size_t WordCursor::next_region() const {
  switch (pattern_) {
    case Pattern::kDigitsThenGpt2:
      return is_number(text_, at_) ? character_at(text_, at_).end : same_end(text_, at_, is_number);
    case Pattern::kDefault:
      return same_end(text_, at_, is_default_punctuation);
    default:
      return text_.size();
  }
}

size_t WordCursor::next_word() {
  const std::string_view region = text_.substr(0, region_end_);
  switch (pattern_) {
    case Pattern::kGpt2:
    case Pattern::kDigitsThenGpt2:
      return gpt2_end(region, at_);
    case Pattern::kDefault:
      if (at_ == word_end_) word_end_ = gpt2_end(region, at_);
      if (at_ == run_end_) run_end_ = same_end(region.substr(0, word_end_), at_, is_number);
      return three_digits_end(region.substr(0, run_end_), at_);
    case Pattern::kLlama3:
      return modern_end(region, at_, 3, false);
    case Pattern::kQwen2:
      return modern_end(region, at_, 1, false);
    case Pattern::kQwen35:
      return modern_end(region, at_, 1, true);
  }
  return text_.size();
}

}  // namespace plumbline::tokenizers::hf
