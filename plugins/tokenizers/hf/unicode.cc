#include "unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "plumb/sdk/utf8.h"
#include "script_tables.h"
#include "unicode_tables.h"

namespace plumbline::tokenizers::hf {
namespace {

template <size_t n>
bool is_in(const CodeRange (&table)[n], char32_t c) {
  const CodeRange* found =
      std::lower_bound(std::begin(table), std::end(table), c,
                       [](const CodeRange& range, char32_t point) { return range.last < point; });
  return found != std::end(table) && found->first <= c;
}

constexpr uint32_t bit(utf8proc_category_t category) {
  return 1u << category;
}
bool has_category(char32_t c, uint32_t wanted) {
  return (bit(utf8proc_category(static_cast<utf8proc_int32_t>(c))) & wanted) != 0;
}

constexpr uint32_t kLetters = bit(UTF8PROC_CATEGORY_LU) | bit(UTF8PROC_CATEGORY_LL) |
                              bit(UTF8PROC_CATEGORY_LT) | bit(UTF8PROC_CATEGORY_LM) |
                              bit(UTF8PROC_CATEGORY_LO);
constexpr uint32_t kMarks =
    bit(UTF8PROC_CATEGORY_MN) | bit(UTF8PROC_CATEGORY_MC) | bit(UTF8PROC_CATEGORY_ME);
constexpr uint32_t kNumbers =
    bit(UTF8PROC_CATEGORY_ND) | bit(UTF8PROC_CATEGORY_NL) | bit(UTF8PROC_CATEGORY_NO);
constexpr uint32_t kPunctuation = bit(UTF8PROC_CATEGORY_PC) | bit(UTF8PROC_CATEGORY_PD) |
                                  bit(UTF8PROC_CATEGORY_PS) | bit(UTF8PROC_CATEGORY_PE) |
                                  bit(UTF8PROC_CATEGORY_PI) | bit(UTF8PROC_CATEGORY_PF) |
                                  bit(UTF8PROC_CATEGORY_PO);
constexpr uint32_t kWord = kLetters | kMarks | bit(UTF8PROC_CATEGORY_ND) |
                           bit(UTF8PROC_CATEGORY_NL) | bit(UTF8PROC_CATEGORY_PC);
constexpr uint32_t kOther =
    bit(UTF8PROC_CATEGORY_CC) | bit(UTF8PROC_CATEGORY_CF) | bit(UTF8PROC_CATEGORY_CO);

bool is_ascii_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_ascii_digit(char32_t c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool is_numeric(char32_t c) {
  if (c < 0x80) return is_ascii_digit(c);
  return has_category(c, kNumbers) || is_in(kLaterNumbers, c);
}

bool is_word(char32_t c) {
  if (c < 0x80) return is_ascii_letter(c) || is_ascii_digit(c) || c == '_';
  if (c == 0x200C || c == 0x200D) return true;
  return has_category(c, kWord) || is_in(kCircledLetters, c) || is_in(kLaterWordCharacters, c);
}

bool is_bert_punctuation(char32_t c) {
  if (c < 0x80) return c > ' ' && c < 0x7F && !is_ascii_letter(c) && !is_ascii_digit(c);
  return (has_category(c, kPunctuation) && !is_in(kLaterPunctuation, c)) ||
         is_in(kFormerPunctuation, c);
}

bool is_other(char32_t c) {
  return has_category(c, kOther) && !is_in(kLaterOther, c);
}

bool is_nonspacing_mark(char32_t c) {
  if (c < 0x300) return false;
  return (has_category(c, bit(UTF8PROC_CATEGORY_MN)) && !is_in(kLaterNonspacingMarks, c)) ||
         is_in(kFormerNonspacingMarks, c);
}

bool is_mark(char32_t c) {
  if (c < 0x300) return false;
  return (has_category(c, kMarks) && !is_in(kLaterMarks, c)) || is_in(kFormerMarks, c);
}

bool is_later_in_normal_forms(char32_t c) {
  return c >= std::begin(kLaterInNormalForms)->first && is_in(kLaterInNormalForms, c);
}

int script_of(char32_t c) {
  const ScriptRange* found =
      std::lower_bound(std::begin(kScriptRanges), std::end(kScriptRanges), c,
                       [](const ScriptRange& range, char32_t point) { return range.last < point; });
  return found != std::end(kScriptRanges) && found->first <= c ? found->script : -1;
}

void append_lower(char32_t c, std::string& out) {
  if (c == 0x130) {
    out.append("i\u0307");
    return;
  }
  const LaterCapitals* later =
      std::find_if(std::begin(kLaterCapitals), std::end(kLaterCapitals),
                   [&](const LaterCapitals& row) { return row.first <= c && c <= row.last; });
  utf8::append(out,
               later != std::end(kLaterCapitals)
                   ? later->lower + (c - later->first)
                   : static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

}  // namespace plumbline::tokenizers::hf
