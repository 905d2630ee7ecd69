// cursor.h: walks the words of a text, which merges never cross.
#pragma once

#include <cstdint>
#include <string_view>

#include "patterns.h"

namespace plumbline::tokenizers::hf {

/// How a vocabulary cuts a text into words. Each stands for public regular expressions, given
/// beside its splitter in patterns.h.
enum class Pattern : uint8_t {
  kGpt2,
  kDigitsThenGpt2,  ///< every \p{N} alone, then kGpt2 between them (SmolLM)
  kDefault,  ///< llama.cpp's for files that name none
  kLlama3,  ///< numbers of up to three digits
  kQwen2,  ///< every digit alone
  kQwen35,  ///< kQwen2 with marks counted as letters
  kO200k,  ///< words end where upper case follows lower case (GPT-4o, gpt-oss)
  kTekken,  ///< kO200k with every digit alone, and no contractions (Mistral Nemo)
  kDeepSeekV3,
};

/// Linear time, no memory. The text is well-formed.
class WordCursor {
 public:
  WordCursor(Pattern pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  /// The next word as [begin, end); false at the end of the text. The words lie end to end.
  bool next(size_t* begin, size_t* end) {
    if (at_ == text_.size()) return false;
    *begin = at_;
    at_ = *end = next_end();
    return true;
  }

 private:
  size_t next_end() {
    switch (pattern_) {
      case Pattern::kGpt2:
        return gpt2_end(text_, at_);
      case Pattern::kDigitsThenGpt2:
        if (at_ == region_end_) region_end_ = digits_region_end(text_, at_);
        return gpt2_end(text_.first(region_end_), at_);
      case Pattern::kDefault:
        return default_words_.next_end(text_, at_);
      case Pattern::kLlama3:
        return llama3_end<3>(text_, at_);
      case Pattern::kQwen2:
        return llama3_end<1>(text_, at_);
      case Pattern::kQwen35:
        return llama3_end<1, kLetter | kMark>(text_, at_);
      case Pattern::kO200k:
        return o200k_end<3, true>(text_, at_);
      case Pattern::kTekken:
        return o200k_end<1, false>(text_, at_);
      case Pattern::kDeepSeekV3:
        if (at_ == region_end_) region_end_ = deepseek_region_end(text_, at_);
        return deepseek_end(text_.first(region_end_), at_);
    }
    return text_.size();
  }

  Pattern pattern_;
  Text text_;
  size_t at_ = 0;
  size_t region_end_ = 0;  // the pattern sees the text up to here
  DefaultWords default_words_;
};

}  // namespace plumbline::tokenizers::hf
