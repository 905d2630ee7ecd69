#include "bpe_tokenizer.h"

#include <functional>
#include <utility>

#include "byte_alphabet.h"
#include "nfc.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::MappedView;
using tokenizer::MetadataReader;
using tokenizer::Piece;
using tokenizer::Scratch;
using tokenizer::Symbol;
using tokenizer::Vocabulary;

std::vector<std::string_view> texts_of(const Vocabulary& vocabulary) {
  std::vector<std::string_view> texts;
  texts.reserve(vocabulary.tokens.size());
  for (const plumb_str token : vocabulary.tokens) texts.push_back(to_view(token));
  return texts;
}

Result<const PreTokenizer*> pre_tokenizer_of(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view name, metadata.text("tokenizer.ggml.pre", ""));
  if (const PreTokenizer* found = find_pre_tokenizer(name)) return found;
  return Error{PLUMB_UNSUPPORTED, "tokenizer.ggml.pre is \"" + std::string(name) +
                                      "\", a pre-tokenizer that is not known here"};
}

}  // namespace

Result<void> BpeTokenizer::recognise(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view model, metadata.text("tokenizer.ggml.model", ""));
  if (model != "gpt2") {
    return Error{PLUMB_UNSUPPORTED,
                 "tokenizer.ggml.model is \"" + std::string(model) + "\", \"gpt2\" expected"};
  }
  PLUMB_TRY(pre_tokenizer_of(metadata));
  return {};
}

Result<std::unique_ptr<BpeTokenizer>> BpeTokenizer::create(const MetadataReader& metadata) {
  PLUMB_TRY(recognise(metadata));
  PLUMB_ASSIGN(const PreTokenizer* pre_tokenizer, pre_tokenizer_of(metadata));
  PLUMB_ASSIGN(Vocabulary vocabulary,
               Vocabulary::read(metadata, {.add_bos = pre_tokenizer->add_bos}));
  PLUMB_ASSIGN(const std::span<const plumb_str> merges,
               metadata.array<plumb_str>("tokenizer.ggml.merges"));
  if (merges.data() == nullptr) return Error{PLUMB_CORRUPT, "tokenizer.ggml.merges: missing"};

  std::unique_ptr<BpeTokenizer> made(new BpeTokenizer(std::move(vocabulary), *pre_tokenizer));
  PLUMB_TRY(made->index_tokens());
  PLUMB_TRY(made->read_merges(merges));
  PLUMB_TRY(tokenizer::add_literals(made->vocabulary_, std::identity(), made->literals_));
  made->read_pieces();
  return made;
}

BpeTokenizer::BpeTokenizer(Vocabulary vocabulary, const PreTokenizer& pre_tokenizer)
    : vocabulary_(std::move(vocabulary)),
      pre_tokenizer_(pre_tokenizer),
      texts_(texts_of(vocabulary_)),
      index_(texts_) {}

Result<void> BpeTokenizer::index_tokens() {
  for (int32_t id = 0; id < static_cast<int32_t>(texts_.size()); ++id) {
    if (texts_[id].empty()) continue;
    if (const int32_t first = index_.insert(id); first >= 0) {
      return Error{PLUMB_CORRUPT, "tokenizer.ggml.tokens: tokens " + std::to_string(first) +
                                      " and " + std::to_string(id) + " are the same"};
    }
  }
  for (uint32_t byte = 0; byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = index_.find(character_of(static_cast<uint8_t>(byte)));
  }
  return {};
}

Result<void> BpeTokenizer::read_merges(std::span<const plumb_str> merges) {
  pairs_ = PairIndex(merges.size());
  const auto broken = [](uint32_t rank, const char* how) {
    return Error{PLUMB_CORRUPT, "tokenizer.ggml.merges: merge " + std::to_string(rank) + how};
  };
  std::string joined;
  for (uint32_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view text = to_view(merges[rank]);
    const size_t space = text.find(' ', 1);
    if (space == std::string_view::npos) {
      return broken(rank, " is not two tokens with a space between");
    }
    const std::string_view left = text.substr(0, space);
    const std::string_view right = text.substr(space + 1);
    joined.assign(left).append(right);
    const int32_t left_id = index_.find(left);
    const int32_t right_id = index_.find(right);
    const int32_t joined_id = index_.find(joined);
    if (left_id < 0 || right_id < 0 || joined_id < 0) {
      return broken(rank, " names or makes a token that the vocabulary does not have");
    }
    if (vocabulary_.is_special(joined_id)) continue;  // plain text never becomes a control token
    pairs_.insert(left_id, right_id, {rank, joined_id});
  }
  return {};
}

void BpeTokenizer::read_pieces() {
  piece_ends_.reserve(texts_.size());
  for (int32_t id = 0; id < static_cast<int32_t>(texts_.size()); ++id) {
    const bool is_literal =
        vocabulary_.is(id, PLUMB_TOKEN_CONTROL | PLUMB_TOKEN_UNKNOWN | PLUMB_TOKEN_USER_DEFINED);
    if (is_literal || !append_bytes_of(texts_[id], piece_bytes_)) piece_bytes_.append(texts_[id]);
    piece_ends_.push_back(static_cast<uint32_t>(piece_bytes_.size()));
  }
}

std::string_view BpeTokenizer::piece(int32_t id, bool) const {
  const uint32_t begin = id == 0 ? 0 : piece_ends_[id - 1];
  return std::string_view(piece_bytes_).substr(begin, piece_ends_[id] - begin);
}

void BpeTokenizer::encode(const plumb_encode_request& request, Scratch& scratch,
                          tokenizer::IdWriter& out) const {
  tokenizer::cut_at_literals(
      vocabulary_, literals_, tokenizer::repair(to_view(request.text), scratch.repaired), request,
      scratch.matches, [&](int32_t id, plumb_span span) { out.put(id, span); },
      [&](const MappedView& part) { encode_text(part, scratch, out); });
}

void BpeTokenizer::encode_text(const MappedView& part, Scratch& scratch,
                               tokenizer::IdWriter& out) const {
  const MappedView view = pre_tokenizer_.nfc ? to_nfc(part, scratch.rewritten) : part;
  WordCursor cursor(pre_tokenizer_.pattern, view.text());
  for (size_t begin = 0, end = 0; cursor.next(&begin, &end);) {
    const std::string_view word = view.text().substr(begin, end - begin);
    size_t n_pieces = 0;
    const Piece* pieces = scratch.cache.find(word, &n_pieces);
    if (pieces == nullptr) {
      encode_word(word, scratch);
      scratch.cache.store(word, scratch.pieces);
      pieces = scratch.pieces.data();
      n_pieces = scratch.pieces.size();
    }
    for (size_t i = 0; i < n_pieces; ++i) {
      out.put(pieces[i].id, view.source(begin + pieces[i].begin, begin + pieces[i].end));
    }
  }
}

/// Leaves the pieces of one word in scratch.pieces.
void BpeTokenizer::encode_word(std::string_view word, Scratch& scratch) const {
  scratch.pieces.clear();
  const uint32_t n_bytes = static_cast<uint32_t>(word.size());
  if (pre_tokenizer_.ignore_merges) {
    if (const int32_t id = whole_word(word); id >= 0) {
      scratch.pieces.push_back({0, n_bytes, id});
      return;
    }
  }
  tokenizer::Merger& merger = scratch.merger;
  merger.clear();
  for (uint32_t i = 0; i < n_bytes; ++i) {
    const int32_t id = byte_ids_[static_cast<uint8_t>(word[i])];
    if (id >= 0) merger.add(i, i + 1, id);
  }
  merger.run(
      [&](const Symbol& left, const Symbol& right) { return pairs_.find(left.id, right.id); });
  if (merger.symbols.empty()) return;
  for (uint32_t at = 0; at != tokenizer::kNoSymbol; at = merger.symbols[at].next) {
    const Symbol& symbol = merger.symbols[at];
    scratch.pieces.push_back({symbol.begin, symbol.end, symbol.id});
  }
}

/// The token that is this word, or -1. Added tokens are no words: their literals are text here.
int32_t BpeTokenizer::whole_word(std::string_view word) const {
  constexpr size_t kLongestWord =
      256;  // bytes: longer ones go through the merges, which give the same token
  if (word.size() > kLongestWord) return -1;
  std::string text;
  for (const char byte : word) text.append(character_of(static_cast<uint8_t>(byte)));
  const int32_t id = index_.find(text);
  return id >= 0 && vocabulary_.attributes[id] == 0 ? id : -1;
}

}  // namespace plumbline::tokenizers::hf
