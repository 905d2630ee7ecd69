// normal_forms.h: Unicode's normal forms, as version 9 defines them: that is the tokenizers
// library's.
#pragma once

#include <cstdint>

#include "plumb/sdk/tokenizer/mapped_text.h"

namespace plumbline::tokenizers::hf {

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };

/// A well-formed text in a normal form: the view itself if it is that already. Each character has
/// the source of those it is made of. Linear time but for sorting the marks of one base.
tokenizer::MappedView to_normal_form(NormalForm form, const tokenizer::MappedView& view,
                                     tokenizer::MappedText& storage);

}  // namespace plumbline::tokenizers::hf
