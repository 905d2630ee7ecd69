// nfc.h: Unicode normalisation form C that remembers where every byte came from.
#pragma once

#include "plumb/sdk/tokenizer/mapped_text.h"

namespace plumbline::tokenizers::hf {

/// The text in NFC: the view itself if it is so already, else a rewritten text in `storage`. The
/// unit of change is a base character with its marks; each byte of a changed unit maps to the whole
/// unit. Linear in practice and O(n log n) at worst (a character with a million marks). The text
/// must be well-formed UTF-8. Source  Unicode Standard Annex 15; data and composition from
/// utf8proc.
tokenizer::MappedView to_nfc(const tokenizer::MappedView& view, tokenizer::MappedText& storage);

}  // namespace plumbline::tokenizers::hf
