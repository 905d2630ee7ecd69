#include "tokenizer.h"

#include <limits>
#include <utility>

#include "gguf.h"
#include "sentencepiece.h"
#include "tokenizer_json.h"

namespace plumbline::tokenizers::hf {

using tokenizer::Bars;
using tokenizer::IdWriter;
using tokenizer::MappedView;
using tokenizer::MetadataReader;
using tokenizer::Piece;

Result<void> Tokenizer::recognise(const MetadataReader& metadata) {
  if (has_tokenizer_json(metadata) || has_sentencepiece(metadata)) return {};
  return recognise_gguf(metadata);
}

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(const MetadataReader& metadata) {
  PLUMB_ASSIGN(Parts parts, has_tokenizer_json(metadata)  ? read_tokenizer_json(metadata)
                            : has_sentencepiece(metadata) ? read_sentencepiece(metadata)
                                                          : read_gguf(metadata));
  return create(std::move(parts));
}

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(Parts parts) {
  std::unique_ptr<Tokenizer> made(new Tokenizer(std::move(parts)));
  PLUMB_TRY(made->sort_added());
  PLUMB_TRY(made->read_pieces());
  plumb_tokenizer_info& info = made->parts_.vocabulary.info;
  const auto& prefix = made->parts_.prefix_ids;
  const auto& suffix = made->parts_.suffix_ids;
  if (!prefix.empty() || !suffix.empty()) {
    info.prefix_ids = prefix.data();
    info.n_prefix = static_cast<uint32_t>(prefix.size());
    info.suffix_ids = suffix.data();
    info.n_suffix = static_cast<uint32_t>(suffix.size());
  }
  return made;
}

Result<void> Tokenizer::sort_added() {
  std::vector<AddedToken> in_source;
  std::vector<AddedToken> in_normalised;
  for (AddedToken& token : parts_.added)
    (token.is_normalized ? in_normalised : in_source).push_back(std::move(token));
  parts_.added.clear();
  PLUMB_ASSIGN(in_source_, AddedTokens::create(std::move(in_source)));
  PLUMB_ASSIGN(in_normalised_, AddedTokens::create(std::move(in_normalised)));
  return {};
}

Result<std::string> Tokenizer::reading_of(int32_t id, bool is_first, Allowance& allowance) {
  const size_t at = static_cast<size_t>(id);
  const bool is_other = at < parts_.decoded_literals.size() && !parts_.decoded_literals[at].empty();
  Reading token{is_other ? parts_.decoded_literals[at] : std::string(parts_.vocabulary.text(id)),
                is_first};
  PLUMB_TRY(parts_.decoder.apply(token, allowance));
  if (token.is_byte) {
    parts_.vocabulary.attributes[at] |= PLUMB_TOKEN_BYTE;
    parts_.vocabulary.info.ill_formed = PLUMB_ILL_FORMED_BYTE_RUN;
  }
  return token.text;
}

Tokenizer::PieceRange Tokenizer::keep(std::string_view inside, std::string_view first) {
  PieceRange range{static_cast<uint32_t>(piece_bytes_.size()), 0, 0, 0};
  piece_bytes_.append(inside);
  range.end = static_cast<uint32_t>(piece_bytes_.size());
  range.first_begin = range.end - static_cast<uint32_t>(first.size());
  range.first_end = range.end;
  if (!inside.ends_with(first)) {
    range.first_begin = range.end;
    piece_bytes_.append(first);
    range.first_end = static_cast<uint32_t>(piece_bytes_.size());
  }
  return range;
}

Result<void> Tokenizer::read_pieces() {
  const bool minds_first = parts_.decoder.minds_first();
  const int32_t n = static_cast<int32_t>(parts_.vocabulary.tokens.size());
  pieces_.reserve(static_cast<size_t>(n));
  uint64_t n_bytes = 0;
  for (const plumb_str token : parts_.vocabulary.tokens) n_bytes += token.bytes;
  Allowance allowance(n_bytes, PLUMB_CORRUPT);
  // Byte-level BPE has read the words of its vocabulary back already.
  const Bpe* bytes = parts_.decoder.is_byte_level() ? parts_.model->bytes() : nullptr;
  for (int32_t id = 0; id < n; ++id) {
    if (bytes != nullptr && parts_.vocabulary.attributes[static_cast<size_t>(id)] == 0) {
      const std::string_view piece = bytes->piece(id);
      pieces_.push_back(keep(piece, piece));
      continue;
    }
    PLUMB_ASSIGN(const std::string inside, reading_of(id, false, allowance));
    if (minds_first) {
      PLUMB_ASSIGN(const std::string first, reading_of(id, true, allowance));
      pieces_.push_back(keep(inside, first));
    } else {
      pieces_.push_back(keep(inside, inside));
    }
    if (piece_bytes_.size() > std::numeric_limits<uint32_t>::max() / 2)
      return Error{PLUMB_CORRUPT, "the tokens decode to more than 2 GiB"};
  }
  parts_.decoded_literals.clear();
  return {};
}

std::string_view Tokenizer::piece(int32_t id, bool is_first) const {
  const PieceRange& range = pieces_[static_cast<size_t>(id)];
  const uint32_t begin = is_first ? range.first_begin : range.begin;
  const uint32_t end = is_first ? range.first_end : range.end;
  return std::string_view(piece_bytes_).substr(begin, end - begin);
}

Result<void> Tokenizer::encode(const plumb_encode_request& request, Scratch& scratch,
                               IdWriter& out) const {
  const Bars bars(request);
  const bool parses_special = request.special == PLUMB_SPECIAL_PARSE;
  scratch.allowance = Allowance(request.text.bytes, PLUMB_INVALID_ARGUMENT);
  return in_source_.cut(
      tokenizer::repair(to_view(request.text), scratch.repaired), parses_special, bars,
      scratch.literals, [&](int32_t id, plumb_span span) { out.put(id, span); },
      [&](const MappedView& part) {
        return encode_part(part, bars, parses_special, scratch, out);
      });
}

/// A part between the literals of the source.
Result<void> Tokenizer::encode_part(const MappedView& part, const Bars& bars, bool parses_special,
                                    Scratch& scratch, IdWriter& out) const {
  PLUMB_ASSIGN(const MappedView text,
               parts_.normalizer.apply(part, scratch.normalised, scratch.allowance));
  if (text.text().empty()) return {};
  if (in_normalised_.is_empty()) return encode_text(text, bars, scratch, out);
  return in_normalised_.cut(
      text, parses_special, bars, scratch.normalised_literals,
      [&](int32_t id, plumb_span span) { out.put(id, span); },
      [&](const MappedView& between) { return encode_text(between, bars, scratch, out); });
}

/// A part between all literals, as words.
Result<void> Tokenizer::encode_text(const MappedView& text, const Bars& bars, Scratch& scratch,
                                    IdWriter& out) const {
  if (const Pattern* pattern = parts_.splitter.pattern()) {
    if (const Bpe* bytes = bars.is_empty() ? parts_.model->bytes() : nullptr) {
      bytes->encode(*pattern, text, scratch.words, out);
      return {};
    }
    WordCursor cursor(*pattern, text.text());
    for (size_t begin = 0, end = 0; cursor.next(&begin, &end);)
      PLUMB_TRY(encode_word(text, begin, end, bars, scratch, out));
    return {};
  }
  if (parts_.splitter.is_empty())
    return encode_word(text, 0, text.text().size(), bars, scratch, out);
  PLUMB_TRY(parts_.splitter.cut(text, scratch.split, scratch.allowance));
  for (const MappedView& word : scratch.split.words)
    PLUMB_TRY(encode_word(word, 0, word.text().size(), bars, scratch, out));
  return {};
}

Result<void> Tokenizer::encode_word(const MappedView& text, size_t begin, size_t end,
                                    const Bars& bars, Scratch& scratch, IdWriter& out) const {
  PLUMB_ASSIGN(const std::span<const Piece> pieces,
               tokenizer::pieces_of(text, begin, end, bars, scratch.cache, scratch.pieces,
                                    [&](std::string_view word, Barred barred) {
                                      return parts_.model->encode_word(word, barred, scratch);
                                    }));
  for (const Piece& piece : pieces)
    out.put(piece.id, text.source(begin + piece.begin, begin + piece.end));
  return {};
}

}  // namespace plumbline::tokenizers::hf
