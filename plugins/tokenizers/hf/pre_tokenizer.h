// pre_tokenizer.h: cuts a text into the words that merges never cross, one hand-written splitter
// for each pattern.
#pragma once

#include <cstdint>
#include <string_view>

namespace plumbline::tokenizers::hf {

/// The pattern of a vocabulary. Each stands for public regular expressions, given beside its
/// splitter.
enum class Pattern : uint8_t {
  kGpt2,
  kDigitsThenGpt2,  ///< every \p{N} alone, then kGpt2 between them (SmolLM)
  kDefault,  ///< llama.cpp's for files that name none
  kLlama3,  ///< numbers of up to three digits
  kQwen2,  ///< every digit alone
  kQwen35,  ///< kQwen2 with marks counted as letters
};

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

/// The splitter of a regular expression, to the letter as public files write it; null: there is
/// none. The words of a splitter lie end to end: behaviour "Isolated" of a pattern.
const Pattern* find_pattern(std::string_view regex);

/// Walks the words of a well-formed text. Linear time, no memory.
class WordCursor {
 public:
  WordCursor(Pattern pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  /// The next word as [begin, end); false at the end of the text. The words lie end to end.
  bool next(size_t* begin, size_t* end);

 private:
  size_t next_region() const;
  size_t next_word();

  Pattern pattern_;
  std::string_view text_;
  size_t at_ = 0;
  size_t region_end_ = 0;  // the text that the pattern sees ends here
  // kDefault only: it cuts words again into runs of numbers and the rest, and these into three
  // digits.
  size_t word_end_ = 0;
  size_t run_end_ = 0;
};

}  // namespace plumbline::tokenizers::hf
