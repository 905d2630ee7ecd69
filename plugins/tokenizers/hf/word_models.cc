#include "word_models.h"

#include <algorithm>

#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

/// Each place of a word is the start of a walk as long as a token.
constexpr size_t kLongestToken = 1024;

Result<void> put_unknown(std::string_view word, int32_t id, std::vector<tokenizer::Piece>& out) {
  out.clear();
  if (id < 0) {
    return Error{PLUMB_CORRUPT, "model.unk_token: no such token, and \"" +
                                    std::string(word.substr(0, 40)) + "\" is in no other"};
  }
  out.push_back({0, static_cast<uint32_t>(word.size()), id});
  return {};
}

size_t n_characters(std::string_view word) {
  return word.size() -
         static_cast<size_t>(std::count_if(word.begin(), word.end(), utf8::is_continuation));
}

}  // namespace

Result<std::unique_ptr<WordPieceModel>> WordPieceModel::create(
    std::span<const std::string_view> tokens, WordPieceOptions options) {
  std::unique_ptr<WordPieceModel> made(new WordPieceModel(std::move(options)));
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].size() > kLongestToken) {
      return Error{PLUMB_CORRUPT, "token " + std::to_string(id) + " has " +
                                      std::to_string(tokens[id].size()) + " bytes, at most " +
                                      std::to_string(kLongestToken) + " expected"};
    }
    if (!tokens[id].empty()) made->trie_.add(tokens[id], static_cast<int32_t>(id));
  }
  const std::string& prefix = made->options_.continuing_prefix;
  made->continuing_root_ = made->trie_.walk(prefix);
  made->has_continuing_ = prefix.empty() || made->continuing_root_ != ByteTrie::kNone;
  return made;
}

Result<void> WordPieceModel::encode_word(std::string_view word, Barred barred,
                                         Scratch& scratch) const {
  auto& pieces = scratch.pieces;
  pieces.clear();
  if (n_characters(word) > options_.longest_word)
    return put_unknown(word, options_.unknown_id, pieces);
  for (uint32_t begin = 0; begin < word.size();) {
    tokenizer::Piece longest{begin, begin, -1};
    uint32_t node = begin == 0 ? ByteTrie::kRoot : continuing_root_;
    for (uint32_t end = begin; end < word.size() && (begin == 0 || has_continuing_);) {
      node = trie_.step(node, word[end++]);
      if (node == ByteTrie::kNone) break;
      if (const int32_t id = trie_.id(node); id >= 0 && !barred.has(id)) longest = {begin, end, id};
    }
    if (longest.id < 0) return put_unknown(word, options_.unknown_id, pieces);
    pieces.push_back(longest);
    begin = longest.end;
  }
  return {};
}

WordLevelModel::WordLevelModel(std::span<const std::string_view> tokens, int32_t unknown_id)
    : tokens_(tokens.begin(), tokens.end()), index_(tokens_), unknown_id_(unknown_id) {
  for (size_t id = 0; id < tokens_.size(); ++id) {
    if (!tokens_[id].empty()) index_.insert(static_cast<int32_t>(id));
  }
}

Result<void> WordLevelModel::encode_word(std::string_view word, Barred barred,
                                         Scratch& scratch) const {
  const int32_t id = index_.find(word);
  if (id < 0 || barred.has(id)) return put_unknown(word, unknown_id_, scratch.pieces);
  scratch.pieces.assign(1, {0, static_cast<uint32_t>(word.size()), id});
  return {};
}

}  // namespace plumbline::tokenizers::hf
