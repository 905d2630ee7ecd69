#include "scores_model.h"

#include <algorithm>
#include <utility>

#include "decoder.h"
#include "plumb/ext/tokenizer.h"
#include "plumb/sdk/utf8.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::Merge;
using tokenizer::Piece;
using tokenizer::Symbol;

}  // namespace

std::unique_ptr<ScoresModel> ScoresModel::create(std::vector<std::string_view> texts,
                                                 std::span<const float> scores,
                                                 std::span<const uint8_t> attributes,
                                                 int32_t unknown_id) {
  std::unique_ptr<ScoresModel> made(new ScoresModel(std::move(texts)));
  made->unknown_id_ = unknown_id;
  constexpr uint8_t kNoText = PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN | PLUMB_TOKEN_BYTE;
  for (size_t id = 0; id < made->texts_.size(); ++id) {
    const std::string_view text = made->texts_[id];
    made->priorities_.push_back(tokenizer::priority_of(scores[id]));
    made->is_unused_.push_back((attributes[id] & PLUMB_TOKEN_UNUSED) != 0);
    if ((attributes[id] & PLUMB_TOKEN_BYTE) != 0) {
      if (const int32_t byte = byte_of_fallback(text); byte >= 0)
        made->byte_ids_[static_cast<size_t>(byte)] = static_cast<int32_t>(id);
    }
    if ((attributes[id] & kNoText) != 0) continue;
    made->index_.insert(static_cast<int32_t>(id));
    made->longest_bytes_ = std::max(made->longest_bytes_, text.size());
  }
  made->has_bytes_ = std::all_of(made->byte_ids_.begin(), made->byte_ids_.end(),
                                 [](int32_t id) { return id >= 0; });
  return made;
}

ScoresModel::ScoresModel(std::vector<std::string_view> texts)
    : texts_(std::move(texts)), index_(texts_) {
  byte_ids_.fill(-1);
}

int32_t ScoresModel::find(std::string_view text, Barred barred) const {
  if (text.size() > longest_bytes_) return -1;
  const int32_t id = index_.find(text);
  return barred.has(id) ? -1 : id;
}

Result<void> ScoresModel::encode_word(std::string_view word, Barred barred,
                                      Scratch& scratch) const {
  scratch.pieces.clear();
  scratch.unused_halves.clear();
  tokenizer::Merger& merger = scratch.merger;
  merger.clear();
  for (size_t begin = 0, end = 0; begin < word.size(); begin = end) {
    end = begin + utf8::decode(word, begin).n_bytes;
    merger.add(static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
               find(word.substr(begin, end - begin), barred));
  }
  merger.run([&](const Symbol& left, const Symbol& right) -> Merge {
    const int32_t id = find(word.substr(left.begin, right.end - left.begin), barred);
    if (id < 0) return {0, -1};
    if (is_unused_[static_cast<size_t>(id)])
      scratch.unused_halves[id] = left.end - left.begin;  // the last one seen counts
    return {priorities_[static_cast<size_t>(id)], id};
  });
  if (merger.symbols.empty()) return {};
  for (uint32_t at = 0; at != tokenizer::kNoSymbol; at = merger.symbols[at].next)
    put(word, merger.symbols[at], barred, scratch);
  return {};
}

/// An unused token comes apart again into what it was made of.
void ScoresModel::put(std::string_view word, const Symbol& symbol, Barred barred,
                      Scratch& scratch) const {
  auto& waiting = scratch.waiting;
  waiting.assign(1, {symbol.begin, symbol.end, symbol.id});
  while (!waiting.empty()) {
    const Piece piece = waiting.back();
    waiting.pop_back();
    if (piece.id < 0) {
      put_unknown(word, piece.begin, piece.end, scratch.pieces);
      continue;
    }
    const auto half = is_unused_[static_cast<size_t>(piece.id)]
                          ? scratch.unused_halves.find(piece.id)
                          : scratch.unused_halves.end();
    if (half == scratch.unused_halves.end()) {
      scratch.pieces.push_back(piece);
      continue;
    }
    const uint32_t middle = piece.begin + half->second;
    for (const auto& [begin, end] : {std::pair{middle, piece.end}, {piece.begin, middle}})
      waiting.push_back({begin, end, find(word.substr(begin, end - begin), barred)});
  }
}

/// Neighbouring unknown characters become one token.
void ScoresModel::put_unknown(std::string_view word, uint32_t begin, uint32_t end,
                              std::vector<Piece>& out) const {
  if (has_bytes_) {
    for (uint32_t i = begin; i < end; ++i)
      out.push_back({i, i + 1, byte_ids_[static_cast<uint8_t>(word[i])]});
  } else if (!out.empty() && out.back().id == unknown_id_) {
    out.back().end = end;
  } else {
    out.push_back({begin, end, unknown_id_});
  }
}

}  // namespace plumbline::tokenizers::hf
