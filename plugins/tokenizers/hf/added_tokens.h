// added_tokens.h: literals that are tokens whatever the model says, and where they stand in a text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"
#include "plumb/sdk/tokenizer/encoder.h"
#include "plumb/sdk/tokenizer/literal_matcher.h"
#include "plumb/sdk/tokenizer/mapped_text.h"

namespace plumbline::tokenizers::hf {

struct AddedToken {
  int32_t id = -1;
  std::string literal;  ///< as it stands in the texts that are cut
  bool is_special = false;  ///< matched under PLUMB_SPECIAL_PARSE only
  bool is_normalized = false;  ///< matched in normalised text
  bool is_single_word = false;  ///< no letter or the like beside it
  bool takes_left = false;  ///< with the white space before it
  bool takes_right = false;
};

/// Added tokens that are looked for in the same text.
/// Source  tokenizers, tokenizer/added_vocabulary.rs: leftmost, then longest; a literal that is not
///         accepted is passed over as a whole; white space that one match took may hold the next.
class AddedTokens {
 public:
  using Match = tokenizer::LiteralMatcher::Match;

  /// Of two with the same literal, as a normalizer may make them, the first counts; the tokenizers
  /// library takes one by chance. Fails CORRUPT if one has no literal.
  static Result<AddedTokens> create(std::vector<AddedToken> tokens);

  bool is_empty() const { return tokens_.empty(); }

  /// Calls on_token(id, span) for each match and on_text(part) for what lies between; on_text
  /// returns Result<void>.
  template <typename OnToken, typename OnText>
  Result<void> cut(const tokenizer::MappedView& view, bool parses_special,
                   const tokenizer::Bars& bars, std::vector<Match>& matches, OnToken&& on_token,
                   OnText&& on_text) const;

 private:
  /// Where a run of white space begins or ends; a run that is asked for again is not walked again.
  struct SpaceRun {
    size_t begin = 0;
    size_t end = 0;
  };
  static size_t space_begin(std::string_view text, size_t end, size_t floor);
  static size_t space_end(std::string_view text, size_t begin, SpaceRun& last);
  static bool is_alone(std::string_view text, size_t begin, size_t end);

  std::vector<AddedToken> tokens_;
  tokenizer::LiteralMatcher matcher_;  // its ids are indices into tokens_
};

template <typename OnToken, typename OnText>
Result<void> AddedTokens::cut(const tokenizer::MappedView& view, bool parses_special,
                              const tokenizer::Bars& bars, std::vector<Match>& matches,
                              OnToken&& on_token, OnText&& on_text) const {
  const std::string_view text = view.text();
  const auto token_of = [&](const Match& match) -> const AddedToken& {
    return tokens_[static_cast<size_t>(match.id)];
  };
  size_t text_begin = 0;
  SpaceRun spaces;
  const auto is_barred = [&](const Match& match) {
    return bars.forbid(token_of(match).id, view.source(match.begin, match.end));
  };
  const auto on_match = [&](const Match& match) -> Result<void> {
    const AddedToken& token = token_of(match);
    if (token.is_special && !parses_special) return {};
    if (token.is_single_word && !is_alone(text, match.begin, match.end)) return {};
    const size_t begin =
        token.takes_left ? space_begin(text, match.begin, text_begin) : match.begin;
    const size_t end = token.takes_right ? space_end(text, match.end, spaces) : match.end;
    if (text_begin < begin) PLUMB_TRY(on_text(view.part(text_begin, begin)));
    on_token(token.id, view.source(begin, end));
    text_begin = end;
    return {};
  };
  PLUMB_TRY(tokenizer::walk_literals(matcher_, text, matches, is_barred, on_match));
  if (text_begin == text.size()) return {};
  return on_text(view.part(text_begin, text.size()));
}

}  // namespace plumbline::tokenizers::hf
