#include "sentencepiece.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <limits>
#include <utility>

#include "plumb/sdk/tokenizer/token_index.h"
#include "plumb/sdk/utf8.h"
#include "scores_model.h"
#include "sentencepiece_file.h"
#include "sentencepiece_normalizer.h"
#include "unigram_model.h"

namespace plumbline::tokenizers::hf {
namespace {

using tokenizer::MetadataReader;
using File = SentencePieceFile;
using Kind = SentencePieceFile::Kind;

constexpr size_t kLongestPiece = 1024;  // each place of a text is the start of a walk as long
constexpr size_t kMostPieces = size_t{1} << 24;

uint8_t attributes_of(Kind kind) {
  switch (kind) {
    case Kind::kNormal:
      return 0;
    case Kind::kUnknown:
      return PLUMB_TOKEN_UNKNOWN;
    case Kind::kControl:
      return PLUMB_TOKEN_CONTROL;
    case Kind::kUserDefined:
      return PLUMB_TOKEN_USER_DEFINED;
    case Kind::kUnused:
      return PLUMB_TOKEN_UNUSED;
    case Kind::kByte:
      return PLUMB_TOKEN_BYTE;
  }
  return 0;
}

class FileReader {
 public:
  explicit FileReader(const File& file) : file_(file) {}

  Result<Parts> read() {
    PLUMB_TRY(check_kind());
    PLUMB_TRY(read_pieces());
    PLUMB_TRY(read_normalizer());
    PLUMB_TRY(make_model());
    PLUMB_TRY(make_decoder());
    name_roles();
    return std::move(parts_);
  }

 private:
  Result<void> check_kind() const {
    constexpr std::array<std::string_view, 5> kNames = {"0", "UNIGRAM", "BPE", "WORD", "CHAR"};
    if (file_.model_type != File::kUnigram && file_.model_type != File::kBpe) {
      const std::string name = file_.model_type < kNames.size()
                                   ? std::string(kNames[file_.model_type])
                                   : std::to_string(file_.model_type);
      return Error{PLUMB_UNSUPPORTED,
                   "trainer_spec.model_type is " + name + ", UNIGRAM or BPE expected"};
    }
    if (file_.treat_whitespace_as_suffix) {
      return Error{PLUMB_UNSUPPORTED,
                   "trainer_spec.treat_whitespace_as_suffix is set, which is not known here"};
    }
    if (!file_.denormalizer.charsmap.empty()) {
      return Error{PLUMB_UNSUPPORTED,
                   "denormalizer_spec.precompiled_charsmap: rules for decoded text are not known "
                   "here"};
    }
    return {};
  }

  static Error broken(size_t id, const std::string& what) {
    return Error{PLUMB_CORRUPT, "piece " + std::to_string(id) + ": " + what};
  }

  Result<void> read_pieces() {
    if (file_.pieces.size() > kMostPieces) {
      return Error{PLUMB_CORRUPT, std::to_string(file_.pieces.size()) + " pieces, at most " +
                                      std::to_string(kMostPieces) + " expected"};
    }
    std::bitset<256> seen;
    for (size_t id = 0; id < file_.pieces.size(); ++id) {
      const File::Piece& piece = file_.pieces[id];
      if (piece.text.empty()) return broken(id, "empty");
      if (piece.text.size() > kLongestPiece) {
        return broken(id, std::to_string(piece.text.size()) + " bytes, at most " +
                              std::to_string(kLongestPiece) + " expected");
      }
      if (piece.text.find('\0') != std::string_view::npos) return broken(id, "has a zero byte");
      if (!utf8::is_well_formed(piece.text)) return broken(id, "no UTF-8");
      if (!std::isfinite(piece.score)) return broken(id, "its score is no finite number");
      if (piece.kind == Kind::kUnknown) {
        if (unknown_id_ >= 0) {
          return broken(id, "a second unknown piece, the first is " + std::to_string(unknown_id_));
        }
        unknown_id_ = static_cast<int32_t>(id);
      }
      if (piece.kind == Kind::kByte) {
        if (!file_.byte_fallback)
          return broken(id, "a byte piece, but trainer_spec.byte_fallback is not set");
        const int32_t byte = byte_of_fallback(piece.text);
        if (byte < 0 || seen[static_cast<size_t>(byte)])
          return broken(id, "a new byte as <0xNN> expected");
        seen[static_cast<size_t>(byte)] = true;
      }
      texts_.push_back(piece.text);
      parts_.owned.views.push_back(to_abi(piece.text));
      parts_.vocabulary.attributes.push_back(attributes_of(piece.kind));
    }
    parts_.vocabulary.tokens = parts_.owned.views;
    if (unknown_id_ < 0) return Error{PLUMB_CORRUPT, "no piece is the unknown one"};
    tokenizer::TokenIndex index(texts_);
    if (const auto twins = index.insert_all(texts_.size()); twins.first >= 0) {
      return broken(static_cast<size_t>(twins.second),
                    "the same as piece " + std::to_string(twins.first));
    }
    if (file_.byte_fallback && !seen.all()) {
      return Error{PLUMB_CORRUPT, "trainer_spec.byte_fallback is set, but " +
                                      std::to_string(seen.count()) + " byte pieces, 256 expected"};
    }
    return {};
  }

  Result<void> read_normalizer() {
    SentencePieceRules rules{.add_dummy_prefix = file_.normalizer.add_dummy_prefix,
                             .remove_extra_whitespaces = file_.normalizer.remove_extra_whitespaces,
                             .escape_whitespaces = file_.normalizer.escape_whitespaces};
    if (!file_.normalizer.charsmap.empty()) {
      Result<Charsmap> charsmap = Charsmap::read(file_.normalizer.charsmap);
      if (!charsmap) return std::move(charsmap).error().at("normalizer_spec.precompiled_charsmap");
      rules.charsmap = *std::move(charsmap);
    }
    std::vector<std::string_view> kept;
    for (const File::Piece& piece : file_.pieces) {
      if (piece.kind == Kind::kUserDefined) kept.push_back(piece.text);
    }
    rules.kept = kept;
    parts_.normalizer.add(sentencepiece_step(std::move(rules)));
    return {};
  }

  Result<void> make_model() {
    const bool is_bpe = file_.model_type == File::kBpe;
    for (size_t id = 0; id < texts_.size(); ++id) {
      const Kind kind = file_.pieces[id].kind;
      const bool is_special = kind == Kind::kControl || kind == Kind::kUnknown;
      // In a Unigram model a user-defined piece is a token with a score like any other.
      if (!is_special && !(is_bpe && kind == Kind::kUserDefined)) continue;
      parts_.added.push_back({.id = static_cast<int32_t>(id),
                              .literal = std::string(texts_[id]),
                              .is_special = is_special,
                              .is_normalized = !is_special});
    }
    if (is_bpe) {
      std::vector<float> scores;
      for (const File::Piece& piece : file_.pieces) scores.push_back(piece.score);
      parts_.model = ScoresModel::create(texts_, scores, parts_.vocabulary.attributes, unknown_id_);
      return {};
    }
    return make_unigram();
  }

  /// Source  SentencePiece, src/unigram_model.cc, EncodeOptimized: the scores of the unknown and of
  ///         user-defined pieces.
  Result<void> make_unigram() {
    constexpr float kUnknownPenalty = 10.0f;
    float lowest = std::numeric_limits<float>::max();
    float highest = std::numeric_limits<float>::min();  // as there: more than any logarithm
    for (const File::Piece& piece : file_.pieces) {
      if (piece.kind != Kind::kNormal) continue;
      lowest = std::min(lowest, piece.score);
      highest = std::max(highest, piece.score);
    }
    std::vector<double> scores;
    for (const File::Piece& piece : file_.pieces) {
      scores.push_back(piece.kind == Kind::kUserDefined
                           ? static_cast<float>(piece.text.size()) * highest - 0.1
                           : piece.score);
    }
    PLUMB_ASSIGN(parts_.model,
                 UnigramModel::create(texts_, std::move(scores),
                                      {.unknown_id = unknown_id_,
                                       .byte_fallback = file_.byte_fallback,
                                       .sentencepiece = UnigramOptions::SentencePiece{
                                           .unknown_score = lowest - kUnknownPenalty,
                                           .attributes = parts_.vocabulary.attributes}}));
    return {};
  }

  Result<void> make_decoder() {
    constexpr char32_t kSpaceMark = U'\u2581';
    if (file_.byte_fallback) parts_.decoder.add(byte_fallback_decode_step());
    if (file_.normalizer.add_dummy_prefix || file_.normalizer.remove_extra_whitespaces)
      parts_.decoder.add(strip_first_decode_step(kSpaceMark));
    parts_.decoder.add(metaspace_decode_step(kSpaceMark, false));
    parts_.decoded_literals.resize(texts_.size());
    parts_.decoded_literals[static_cast<size_t>(unknown_id_)] = file_.unknown_surface;
    return {};
  }

  void name_roles() {
    plumb_tokenizer_info& info = parts_.vocabulary.info;
    info.n_vocab = static_cast<uint32_t>(texts_.size());
    info.unknown_id = unknown_id_;
    info.bos_id = control(file_.bos_piece);
    info.eos_id = control(file_.eos_piece);
    info.padding_id = control(file_.padding_piece);
    parts_.vocabulary.mark_ends({info.eos_id}, tokenizer::Ends::kLiteralsOnly);
  }

  /// The id of a control piece, or -1.
  int32_t control(std::string_view text) const {
    for (size_t id = 0; id < texts_.size(); ++id) {
      if (file_.pieces[id].kind == Kind::kControl && texts_[id] == text)
        return static_cast<int32_t>(id);
    }
    return -1;
  }

  const File& file_;
  Parts parts_;
  std::vector<std::string_view> texts_;
  int32_t unknown_id_ = -1;
};

}  // namespace

bool has_sentencepiece(const MetadataReader& metadata) {
  return metadata.get(kSentencePieceKey).type == PLUMB_VALUE_STR;
}

Result<Parts> read_sentencepiece(const MetadataReader& metadata) {
  PLUMB_ASSIGN(const std::string_view bytes, metadata.text(kSentencePieceKey, ""));
  Result<File> file = read_sentencepiece_file(bytes);
  if (!file) return std::move(file).error().at(std::string(kSentencePieceKey));
  Result<Parts> parts = FileReader(*file).read();
  if (!parts) return std::move(parts).error().at(std::string(kSentencePieceKey));
  return parts;
}

}  // namespace plumbline::tokenizers::hf
