// sentencepiece_file.h: a SentencePiece .model file as it lies there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plumb/sdk/result.h"

namespace plumbline::tokenizers::hf {

/// The texts lie in the file's bytes. Defaults are the format's.
/// Format  protobuf, message ModelProto. Source  SentencePiece, src/sentencepiece_model.proto.
struct SentencePieceFile {
  enum class Kind : uint8_t {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6
  };
  struct Piece {
    std::string_view text;
    float score = 0;
    Kind kind = Kind::kNormal;
  };
  struct Normalizer {
    std::string_view charsmap;
    bool add_dummy_prefix = true;
    bool remove_extra_whitespaces = true;
    bool escape_whitespaces = true;
  };

  static constexpr uint64_t kUnigram = 1;
  static constexpr uint64_t kBpe = 2;

  std::vector<Piece> pieces;
  uint64_t model_type = kUnigram;
  bool treat_whitespace_as_suffix = false;
  bool byte_fallback = false;
  std::string_view unknown_surface = " \u2047 ";
  std::string_view bos_piece = "<s>";
  std::string_view eos_piece = "</s>";
  std::string_view padding_piece = "<pad>";
  Normalizer normalizer;
  Normalizer denormalizer;
};

/// Fails CORRUPT with the byte at which it is no protobuf of this kind. Unknown fields are passed
/// over.
Result<SentencePieceFile> read_sentencepiece_file(std::string_view bytes);

}  // namespace plumbline::tokenizers::hf
