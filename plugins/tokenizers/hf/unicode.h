// unicode.h: the questions that tokenizer.json's parts ask about a character, answered as the
// tokenizers library answers them.
#pragma once

#include <string>

#include "plumb/sdk/white_space.h"

namespace plumbline::tokenizers::hf {

/// \p{N}.
bool is_numeric(char32_t c);
/// \w of Rust's regular expressions: letters, marks, decimal and letter numbers, connectors,
/// joiners.
bool is_word(char32_t c);
/// \p{P} of Unicode 8, and all ASCII symbols.
bool is_bert_punctuation(char32_t c);
/// Cc, Cf and Co of Unicode 8.
bool is_other(char32_t c);
/// Mn of Unicode 8.
bool is_nonspacing_mark(char32_t c);
/// \p{M} of Unicode 9.
bool is_mark(char32_t c);
/// True if Unicode 9's normal forms know nothing of this character, and later ones do.
bool is_later_in_normal_forms(char32_t c);
/// A number for the character's script, as UnicodeScripts cuts; -1 if it goes with any.
int script_of(char32_t c);
/// The whole lower-case form: two characters for U+0130.
void append_lower(char32_t c, std::string& out);

}  // namespace plumbline::tokenizers::hf
