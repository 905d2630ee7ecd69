#include "spm_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plumbline::tokenizers::spm {
namespace {

using tokenizer::Barred;
using tokenizer::MappedText;
using tokenizer::MappedView;
using tokenizer::Merge;
using tokenizer::MetadataReader;
using tokenizer::Piece;
using tokenizer::Symbol;
using tokenizer::Vocabulary;

constexpr std::string_view kSpaceMark = "\u2581";

void append_unescaped(std::string_view token, std::string& out) {
  size_t at = 0;
  for (size_t mark; (mark = token.find(kSpaceMark, at)) != std::string_view::npos;
       at = mark + kSpaceMark.size()) {
    out.append(token.substr(at, mark - at)).push_back(' ');
  }
  out.append(token.substr(at));
}

/// The byte of "<0x0A>", or -1.
int32_t byte_of(std::string_view token) {
  const auto digit = [](char c) -> int32_t {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>') return -1;
  const int32_t high = digit(token[3]);
  const int32_t low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

size_t character_end(std::string_view text, size_t at) {
  do ++at;
  while (at < text.size() && utf8::is_continuation(text[at]));
  return at;
}

std::string unescaped(std::string_view token) {
  std::string out;
  append_unescaped(token, out);
  return out;
}

/// The text with a space for each U+2581: the view itself if it has none.
MappedView unescape(const MappedView& view, MappedText& storage) {
  const std::string_view text = view.text();
  size_t mark = text.find(kSpaceMark);
  if (mark == std::string_view::npos) return view;
  storage.clear();
  size_t at = 0;
  for (; mark != std::string_view::npos; mark = text.find(kSpaceMark, at)) {
    storage.append(view.part(at, mark));
    at = mark + kSpaceMark.size();
    storage.append(" ", view.source(mark, at));
  }
  storage.append(view.part(at, text.size()));
  return storage.view();
}

/// A space that is not in the source opens the text: its origin is empty.
MappedView with_space_before(const MappedView& view, MappedText& storage) {
  const uint64_t begin = view.source(0, 1).begin;
  storage.clear();
  storage.append(" ", {begin, begin});
  storage.append(view);
  return storage.view();
}

}  // namespace

Result<void> SpmTokenizer::recognise(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view model, metadata.text("tokenizer.ggml.model", ""));
  if (model == "llama") return {};
  return Error{PLUMB_UNSUPPORTED,
               "tokenizer.ggml.model is \"" + std::string(model) + "\", \"llama\" expected"};
}

Result<std::unique_ptr<SpmTokenizer>> SpmTokenizer::create(const MetadataReader& metadata) {
  PLUMB_TRY(recognise(metadata));
  // SentencePiece's own ids, and what llama.cpp takes for this kind where the file says nothing.
  PLUMB_ASSIGN(
      Vocabulary vocabulary,
      Vocabulary::read(metadata, {.bos_id = 1, .eos_id = 2, .unknown_id = 0, .add_bos = true}));
  PLUMB_ASSIGN(const std::span<const float> scores, metadata.array<float>("tokenizer.ggml.scores"));
  PLUMB_ASSIGN(const bool add_space_prefix, metadata.flag("tokenizer.ggml.add_space_prefix", true));

  std::unique_ptr<SpmTokenizer> made(new SpmTokenizer(std::move(vocabulary)));
  made->add_space_prefix_ = add_space_prefix;
  PLUMB_TRY(made->read_scores(scores));
  PLUMB_TRY(made->index_tokens());
  PLUMB_TRY(tokenizer::add_literals(made->vocabulary_, unescaped, made->literals_));
  return made;
}

SpmTokenizer::SpmTokenizer(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)), pieces_(vocabulary_.tokens.size()), index_(pieces_) {}

Result<void> SpmTokenizer::read_scores(std::span<const float> scores) {
  const size_t n = vocabulary_.tokens.size();
  if (scores.size() != n) {
    return Error{PLUMB_CORRUPT, "tokenizer.ggml.scores: " + std::to_string(scores.size()) +
                                    " elements for " + std::to_string(n) + " tokens"};
  }
  priorities_.reserve(n);
  for (const float score : scores) {
    if (std::isnan(score)) {
      return Error{PLUMB_CORRUPT, "tokenizer.ggml.scores: element " +
                                      std::to_string(priorities_.size()) + " is NaN"};
    }
    priorities_.push_back(tokenizer::priority_of(score));
  }
  return {};
}

Result<void> SpmTokenizer::index_tokens() {
  const int32_t n = static_cast<int32_t>(vocabulary_.tokens.size());
  size_t n_bytes = 0;
  for (const plumb_str token : vocabulary_.tokens) n_bytes += token.bytes;
  piece_bytes_.reserve(n_bytes);  // no piece is longer than its token: the views below stay good
  byte_ids_.fill(-1);
  for (int32_t id = 0; id < n; ++id) {
    const std::string_view text = vocabulary_.text(id);
    const size_t begin = piece_bytes_.size();
    if (vocabulary_.is(id, PLUMB_TOKEN_BYTE)) {
      const int32_t byte = byte_of(text);
      if (byte < 0 || byte_ids_[byte] >= 0) {
        return Error{PLUMB_CORRUPT, "tokenizer.ggml.tokens: token " + std::to_string(id) +
                                        " is \"" + std::string(text.substr(0, 40)) +
                                        "\", a new byte as <0xNN> expected"};
      }
      byte_ids_[byte] = id;
      piece_bytes_.push_back(static_cast<char>(byte));
    } else if (vocabulary_.is_special(id)) {
      piece_bytes_.append(text);
    } else {
      append_unescaped(text, piece_bytes_);
    }
    const std::string_view piece = std::string_view(piece_bytes_).substr(begin);
    pieces_[id] = piece;
    if (piece.empty() || vocabulary_.is_special(id) || vocabulary_.is(id, PLUMB_TOKEN_BYTE))
      continue;

    if (const int32_t first = index_.insert(id); first >= 0 && vocabulary_.text(first) == text) {
      return Error{PLUMB_CORRUPT, "tokenizer.ggml.tokens: tokens " + std::to_string(first) +
                                      " and " + std::to_string(id) + " are the same"};
    }
    longest_bytes_ = std::max(longest_bytes_, piece.size());
    for (size_t i = 1; i < piece.size(); ++i) {
      if (utf8::is_continuation(piece[i])) continue;
      joined_.set(static_cast<size_t>(static_cast<uint8_t>(piece[i - 1])) << 8 |
                  static_cast<uint8_t>(piece[i]));
    }
  }
  return {};
}

std::string_view SpmTokenizer::piece(int32_t id, bool is_first) const {
  std::string_view piece = pieces_[id];
  const bool is_text = !vocabulary_.is_special(id) && !vocabulary_.is(id, PLUMB_TOKEN_BYTE);
  if (is_first && add_space_prefix_ && is_text && !piece.empty() && piece[0] == ' ')
    piece.remove_prefix(1);
  return piece;
}

Result<void> SpmTokenizer::encode(const plumb_encode_request& request, Scratch& scratch,
                                  tokenizer::IdWriter& out) const {
  const MappedView view =
      unescape(tokenizer::repair(to_view(request.text), scratch.repaired), scratch.rewritten);
  const tokenizer::Bars bars(request);
  return tokenizer::cut_at_literals(
      vocabulary_, literals_, view, request.special == PLUMB_SPECIAL_PARSE, bars, scratch.matches,
      [&](int32_t id, plumb_span span) { out.put(id, span); },
      [&](const MappedView& part) { return encode_text(part, bars, scratch, out); });
}

Result<void> SpmTokenizer::encode_text(const MappedView& part, const tokenizer::Bars& bars,
                                       Scratch& scratch, tokenizer::IdWriter& out) const {
  const MappedView view = add_space_prefix_ ? with_space_before(part, scratch.prefixed) : part;
  const std::string_view text = view.text();
  plumb_span unknown = {0, 0};  // neighbouring unknown characters become one token
  bool has_unknown = false;
  const auto end_unknown = [&] {
    if (has_unknown) out.put(vocabulary_.info.unknown_id, unknown);
    has_unknown = false;
  };
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = word_end(text, begin);
    PLUMB_ASSIGN(const std::span<const Piece> pieces,
                 tokenizer::pieces_of(view, begin, end, bars, scratch.cache, scratch.pieces,
                                      [&](std::string_view word, Barred barred) -> Result<void> {
                                        encode_word(word, barred, scratch);
                                        return {};
                                      }));
    for (const Piece& piece : pieces) {
      const plumb_span span = view.source(begin + piece.begin, begin + piece.end);
      if (piece.id >= 0) {
        end_unknown();
        out.put(piece.id, span);
      } else {
        unknown = {has_unknown ? unknown.begin : span.begin, span.end};
        has_unknown = vocabulary_.info.unknown_id >= 0;
      }
    }
    begin = end;
  }
  end_unknown();
  return {};
}

/// Where no token spans a border of two characters, no merge does: what lies between such borders
/// is a word.
size_t SpmTokenizer::word_end(std::string_view text, size_t begin) const {
  size_t end = character_end(text, begin);
  while (end < text.size() && is_joined(text[end - 1], text[end])) end = character_end(text, end);
  return end;
}

/// Leaves the pieces of one word in scratch.pieces; id -1 stands for a character that is unknown.
void SpmTokenizer::encode_word(std::string_view word, Barred barred, Scratch& scratch) const {
  tokenizer::Merger& merger = scratch.merger;
  merger.clear();
  for (size_t begin = 0; begin < word.size();) {
    const size_t end = character_end(word, begin);
    merger.add(static_cast<uint32_t>(begin), static_cast<uint32_t>(end), -1);
    begin = end;
  }
  merger.run([&](const Symbol& left, const Symbol& right) -> Merge {
    const uint32_t n_bytes = right.end - left.begin;
    const int32_t id =
        n_bytes > longest_bytes_ ? -1 : index_.find(word.substr(left.begin, n_bytes));
    if (id < 0 || barred.has(id)) return {0, -1};
    return {priorities_[id], id};
  });
  scratch.pieces.clear();
  for (uint32_t at = 0; at != tokenizer::kNoSymbol; at = merger.symbols[at].next) {
    const Symbol& symbol = merger.symbols[at];
    if (symbol.id >= 0) {
      scratch.pieces.push_back({symbol.begin, symbol.end, symbol.id});
    } else {
      put_character(word, symbol.begin, symbol.end, barred, scratch.pieces);
    }
  }
}

void SpmTokenizer::put_character(std::string_view word, uint32_t begin, uint32_t end, Barred barred,
                                 std::vector<Piece>& out) const {
  const std::string_view character = word.substr(begin, end - begin);
  const int32_t found = index_.find(character);
  const int32_t id = barred.has(found) ? -1 : found;
  const auto has_token = [&](char byte) { return byte_ids_[static_cast<uint8_t>(byte)] >= 0; };
  if (id >= 0 || !std::all_of(character.begin(), character.end(), has_token)) {
    out.push_back({begin, end, id});
    return;
  }
  for (uint32_t i = begin; i < end; ++i)
    out.push_back({i, i + 1, byte_ids_[static_cast<uint8_t>(word[i])]});
}

}  // namespace plumbline::tokenizers::spm
