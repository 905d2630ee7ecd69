#include "added_tokens.h"

#include <utility>

#include "plumb/sdk/utf8.h"
#include "unicode.h"

namespace plumbline::tokenizers::hf {
namespace {

/// The first byte of the character that ends at `end`, which is not 0.
size_t character_begin(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && utf8::is_continuation(text[begin])) --begin;
  return begin;
}

char32_t code_point_at(std::string_view text, size_t at) {
  return utf8::decode(text, at).code_point;
}

// The matcher has a state of a hundred bytes for each; public ones have some fifty.
constexpr size_t kLongestLiteralBytes = size_t{1} << 20;

}  // namespace

Result<AddedTokens> AddedTokens::create(std::vector<AddedToken> tokens) {
  AddedTokens made;
  made.tokens_ = std::move(tokens);
  for (size_t i = 0; i < made.tokens_.size(); ++i) {
    const AddedToken& token = made.tokens_[i];
    if (token.literal.empty()) {
      return Error{PLUMB_CORRUPT, "added token " + std::to_string(token.id) + " has no text"};
    }
    if (token.literal.size() > kLongestLiteralBytes) {
      return Error{PLUMB_CORRUPT, "added token " + std::to_string(token.id) + " has " +
                                      std::to_string(token.literal.size()) + " bytes, at most " +
                                      std::to_string(kLongestLiteralBytes) + " expected"};
    }
    made.matcher_.add(token.literal, static_cast<int32_t>(i));  // the first of equals stays
  }
  made.matcher_.build();
  return made;
}

size_t AddedTokens::space_begin(std::string_view text, size_t end, size_t floor) {
  while (end > floor) {
    const size_t begin = character_begin(text, end);
    if (!is_white_space(code_point_at(text, begin))) break;
    end = begin;
  }
  return std::max(end, floor);
}

size_t AddedTokens::space_end(std::string_view text, size_t begin, SpaceRun& last) {
  if (begin >= last.begin && begin < last.end) return last.end;
  last = {begin, begin};
  while (last.end < text.size()) {
    const utf8::Decoded next = utf8::decode(text, last.end);
    if (!is_white_space(next.code_point)) break;
    last.end += next.n_bytes;
  }
  return last.end;
}

bool AddedTokens::is_alone(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !is_word(code_point_at(text, character_begin(text, begin)))) &&
         (end == text.size() || !is_word(code_point_at(text, end)));
}

}  // namespace plumbline::tokenizers::hf
