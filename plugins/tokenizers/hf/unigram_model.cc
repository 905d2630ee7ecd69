#include "unigram_model.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "decoder.h"
#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::Piece;

constexpr double kUnknownPenalty = 10.0;
/// Each place of a text is the start of a walk as long as a token.
constexpr size_t kLongestToken = 1024;

constexpr uint32_t kUnreached = std::numeric_limits<uint32_t>::max();

}  // namespace

Result<std::unique_ptr<UnigramModel>> UnigramModel::create(std::span<const std::string_view> tokens,
                                                           std::vector<double> scores,
                                                           UnigramOptions options) {
  std::unique_ptr<UnigramModel> made(new UnigramModel());
  made->unknown_id_ = options.unknown_id;
  made->byte_fallback_ = options.byte_fallback;
  made->is_sentencepiece_ = options.sentencepiece.has_value();
  const auto is_text = [&](size_t id) {
    constexpr uint8_t kNoText =
        PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN | PLUMB_TOKEN_UNUSED | PLUMB_TOKEN_BYTE;
    return !options.sentencepiece || (options.sentencepiece->attributes[id] & kNoText) == 0;
  };
  made->byte_ids_.fill(-1);
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t id = 0; id < tokens.size(); ++id) {
    const std::string_view token = tokens[id];
    if (token.size() > kLongestToken) {
      return Error{PLUMB_CORRUPT, "token " + std::to_string(id) + " has " +
                                      std::to_string(token.size()) + " bytes, at most " +
                                      std::to_string(kLongestToken) + " expected"};
    }
    lowest = std::min(lowest, scores[id]);
    if (token.empty()) continue;
    if (is_text(id)) made->trie_.add(token, static_cast<int32_t>(id));
    if (const int32_t byte = byte_of_fallback(token); byte >= 0)
      made->byte_ids_[static_cast<size_t>(byte)] = static_cast<int32_t>(id);
  }
  made->unknown_score_ =
      options.sentencepiece ? options.sentencepiece->unknown_score : lowest - kUnknownPenalty;
  made->scores_ = std::move(scores);
  return made;
}

Result<void> UnigramModel::find_best_paths(std::string_view word, Barred barred,
                                           Scratch& scratch) const {
  auto& paths = scratch.best_paths;
  paths.assign(word.size() + 1, {0, kUnreached, -1});
  const auto kept = [&](double score) {
    return is_sentencepiece_ ? static_cast<float>(score) : score;
  };
  const auto offer = [&](size_t begin, size_t end, double score, int32_t id) {
    Scratch::BestPath& path = paths[end];
    if (path.begin == kUnreached || score > path.score)
      path = {score, static_cast<uint32_t>(begin), id};
  };
  for (size_t begin = 0; begin < word.size();) {
    const double score_here = paths[begin].score;
    const size_t next = begin + utf8::decode(word, begin).n_bytes;
    bool has_single = false;
    uint32_t node = ByteTrie::kRoot;
    for (size_t end = begin; end < word.size();) {
      node = trie_.step(node, word[end++]);
      if (node == ByteTrie::kNone) break;
      const int32_t id = trie_.id(node);
      if (id < 0 || barred.has(id)) continue;
      offer(begin, end, kept(scores_[static_cast<size_t>(id)] + score_here), id);
      has_single |= end == next;
    }
    if (!has_single) {
      if (unknown_id_ < 0) {
        return Error{PLUMB_CORRUPT,
                     "model.unk_id: missing, and no token has the character at byte " +
                         std::to_string(begin) + " of a word"};
      }
      offer(begin, next, kept(unknown_score_ + score_here), unknown_id_);
    }
    begin = next;
  }
  return {};
}

Result<void> UnigramModel::encode_word(std::string_view word, Barred barred,
                                       Scratch& scratch) const {
  scratch.pieces.clear();
  PLUMB_TRY(find_best_paths(word, barred, scratch));
  // From the end; neighbouring unknown pieces are one.
  uint32_t end = static_cast<uint32_t>(word.size());
  uint32_t unknown_end = end;
  const auto end_unknown = [&](uint32_t begin) {
    if (begin < unknown_end) put_unknown(word, begin, unknown_end, barred, scratch.pieces);
  };
  while (end > 0) {
    const Scratch::BestPath& path = scratch.best_paths[end];
    if (path.id != unknown_id_) {
      end_unknown(end);
      scratch.pieces.push_back({path.begin, end, path.id});
      unknown_end = path.begin;
    }
    end = path.begin;
  }
  end_unknown(0);
  std::reverse(scratch.pieces.begin(), scratch.pieces.end());
  return {};
}

/// Appends from the end on. Joined pieces may be a token together.
void UnigramModel::put_unknown(std::string_view word, uint32_t begin, uint32_t end, Barred barred,
                               std::vector<Piece>& out) const {
  const std::string_view text = word.substr(begin, end - begin);
  const auto has_token = [&](char byte) { return byte_ids_[static_cast<uint8_t>(byte)] >= 0; };
  const int32_t id = is_sentencepiece_ ? -1 : trie_.find(text);
  if (id >= 0 && !barred.has(id)) {
    out.push_back({begin, end, id});
  } else if (byte_fallback_ && std::all_of(text.begin(), text.end(), has_token)) {
    for (uint32_t i = end; i-- > begin;)
      out.push_back({i, i + 1, byte_ids_[static_cast<uint8_t>(word[i])]});
  } else {
    out.push_back({begin, end, unknown_id_});
  }
}

}  // namespace plumbline::tokenizers::hf
