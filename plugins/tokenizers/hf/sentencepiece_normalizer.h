// sentencepiece_normalizer.h: what SentencePiece does to a text before the model sees it.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "charsmap.h"
#include "normalizer.h"

namespace plumbline::tokenizers::hf {

struct SentencePieceRules {
  std::optional<Charsmap> charsmap = std::nullopt;
  bool add_dummy_prefix = true;  ///< a space before the text
  bool remove_extra_whitespaces = true;  ///< none at the ends, one where there are many
  bool escape_whitespaces = true;  ///< a space becomes U+2581
  std::span<const std::string_view> kept =
      {};  ///< literals that stay as they are; while it is made
};

/// Source  SentencePiece, src/normalizer.cc, Normalize.
NormalizerStepPtr sentencepiece_step(SentencePieceRules rules);

}  // namespace plumbline::tokenizers::hf
